/** What the run is and what came of it: evaluations, checkpoints, notes, versions, machine, recipe. */
import { useEffect, useMemo } from 'preact/hooks';
import type { EvaluationSummary, RunDetail } from '../../api.js';
import { Badge, CopyButton, Empty } from '../components/bits.js';
import { SafeText } from '../components/SafeText.js';
import { count, dateTime, metric, number, percent, STAGE_NAMES } from '../format.js';
import { useRoute } from '../navigation.js';
import { href, oneOf } from '../router.js';
import { safeLabel } from '../safeText.js';
import { rolloutsOf } from './curveMarks.js';
import type { RunViewProps } from './RunPage.js';

export default function Overview({ run }: RunViewProps) {
  const show = oneOf(useRoute().query, 'show');
  useEffect(() => {
    if (show !== undefined) document.getElementById(`overview-${show}`)?.scrollIntoView({ block: 'start' });
  }, [show]);
  return (
    <div class="overview">
      <div class="overview-main">
        <Notes run={run} />
        <Evaluations run={run} />
        <Checkpoints run={run} />
      </div>
      <div class="overview-side">
        <Facts run={run} />
      </div>
      <Recipe run={run} />
    </div>
  );
}

function Card({
  id,
  title,
  tools,
  children,
}: {
  id: string;
  title: string;
  tools?: preact.ComponentChildren;
  children: preact.ComponentChildren;
}) {
  return (
    <section class="card" id={`overview-${id}`} aria-labelledby={`overview-${id}-title`}>
      <div class="card-head">
        <h2 id={`overview-${id}-title`} class="grow">
          {title}
        </h2>
        {tools}
      </div>
      <div class="card-body">{children}</div>
    </section>
  );
}

function Notes({ run }: { run: RunDetail }) {
  if (run.notes.length === 0) return null;
  const warnings = run.notes.filter(({ level }) => level === 'warning').length;
  return (
    <Card
      id="notes"
      title="Notes"
      tools={warnings > 0 && <Badge tone="warn">{warnings === 1 ? '1 warning' : `${warnings} warnings`}</Badge>}
    >
      <ul class="notes">
        {[...run.notes].reverse().map(({ at, level, text }, i) => (
          <li key={run.notes.length - i}>
            <time class="faint" dateTime={at}>
              {dateTime(at)}
            </time>
            {level === 'warning' ? <Badge tone="warn">warning</Badge> : <Badge>info</Badge>}
            <SafeText text={text} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** In this order where they are there; the rest of an evaluation's numbers is behind its name. */
const COLUMNS: readonly (readonly [metric: string, title: string])[] = [
  ['accuracy', 'accuracy'],
  ['toolSuccess', 'tool success'],
  ['callsPerRollout', 'calls'],
  ['withoutCall', 'without call'],
  ['truncated', 'truncated'],
  ['tokensPerTurn', 'tokens a turn'],
  ['problems', 'problems'],
];
const SHOWN = new Set([...COLUMNS.map(([name]) => name), 'intervalLow', 'intervalHigh']);

function Evaluations({ run }: { run: RunDetail }) {
  const order = ['base', 'sft', 'rl'];
  const all = [...run.allEvaluations].sort(
    (a, b) => order.indexOf(a.stage) - order.indexOf(b.stage) || a.step - b.step || (a.name < b.name ? -1 : 1),
  );
  const columns = COLUMNS.filter(([name]) => all.some(({ metrics }) => metrics[name] != null));
  return (
    <Card id="evaluations" title="Evaluations">
      {all.length === 0 ? (
        <p class="muted">None was made so far.</p>
      ) : (
        <div class="scroll" role="group" tabIndex={0} aria-label="Table of evaluations">
          <table class="plain">
            <thead>
              <tr>
                <th scope="col">name</th>
                <th scope="col">after</th>
                {columns.map(([name, title]) => (
                  <th scope="col" key={name} class="right">
                    {title}
                  </th>
                ))}
                <th scope="col">all numbers</th>
              </tr>
            </thead>
            <tbody>
              {all.map((each) => (
                <tr key={`${each.stage} ${each.step} ${each.name}`}>
                  <th scope="row">
                    <a href={rolloutsOf(run.id, each)} title="Its rollouts">
                      <bdi>{safeLabel(each.name)}</bdi>
                    </a>
                  </th>
                  <td class="nowrap">{after(each)}</td>
                  {columns.map(([name]) => (
                    <td key={name} class="right nowrap">
                      {metric(name, each.metrics[name])}
                      {name === 'accuracy' && <Interval evaluation={each} />}
                    </td>
                  ))}
                  <td>
                    <Rest evaluation={each} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}

const after = ({ stage, step }: EvaluationSummary): string =>
  stage === 'base' ? 'base model' : `${STAGE_NAMES[stage]} step ${count(step)}`;

function Interval({ evaluation: { metrics } }: { evaluation: EvaluationSummary }) {
  const { intervalLow, intervalHigh } = metrics;
  if (typeof intervalLow !== 'number' || typeof intervalHigh !== 'number') return null;
  return (
    <span class="faint interval" title="95 % interval over the problems">
      {percent(intervalLow).replace(' %', '')} – {percent(intervalHigh)}
    </span>
  );
}

function Rest({ evaluation: { metrics } }: { evaluation: EvaluationSummary }) {
  const rest = Object.entries(metrics).filter(([name]) => !SHOWN.has(name));
  if (rest.length === 0) return null;
  return (
    <details class="rest">
      <summary>{rest.length} more</summary>
      <dl class="facts">
        {rest.map(([name, value]) => (
          <div key={name}>
            <dt>{safeLabel(name)}</dt>
            <dd>{metric(name, value)}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function Checkpoints({ run }: { run: RunDetail }) {
  return (
    <Card id="checkpoints" title="Checkpoints">
      {run.checkpoints.length === 0 ? (
        <p class="muted">None is kept.</p>
      ) : (
        <div class="scroll" role="group" tabIndex={0} aria-label="Table of checkpoints">
          <table class="plain">
            <thead>
              <tr>
                <th scope="col">after</th>
                <th scope="col">kept as</th>
                <th scope="col">optimizer</th>
                <th scope="col">path</th>
              </tr>
            </thead>
            <tbody>
              {run.checkpoints.map(({ path, stage, step, reason, optimizer }) => (
                <tr key={path}>
                  <th scope="row" class="nowrap">
                    {STAGE_NAMES[stage]} step {count(step)}
                  </th>
                  <td class="nowrap">{safeLabel(reason)}</td>
                  <td>{optimizer ? 'with' : 'without'}</td>
                  <td class="nowrap">
                    <span class="mono">{safeLabel(path)}</span> <CopyButton text={path} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}

function Facts({ run }: { run: RunDetail }) {
  const machine = Object.entries(run.extra).flatMap(([name, value]) => flat(name, value));
  return (
    <Card id="facts" title="Facts">
      <dl class="facts">
        <Fact name="folder" value={run.id === '@' ? run.name : run.id} />
        <Fact name="recipe" value={run.recipe ?? '–'} />
        <Fact name="model" value={run.model ?? '–'} />
        <Fact name="seed" value={run.seed === undefined ? '–' : String(run.seed)} />
        <Fact name="begun" value={dateTime(run.startedAt)} />
        <Fact name="last written" value={dateTime(run.updatedAt)} />
        <div>
          <dt>rollouts kept</dt>
          <dd>
            <a href={href(['run', run.id, 'trajectories'])}>{count(run.trajectories)}</a>
          </dd>
        </div>
      </dl>
      {Object.keys(run.versions).length > 0 && <h3>Versions</h3>}
      <dl class="facts">
        {Object.entries(run.versions).map(([name, value]) => (
          <Fact key={name} name={name} value={value} />
        ))}
      </dl>
      {machine.length > 0 && <h3>Machine and more</h3>}
      <dl class="facts">
        {machine.map(([name, value]) => (
          <Fact key={name} name={name} value={value} />
        ))}
      </dl>
    </Card>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{safeLabel(name)}</dt>
      <dd>
        <SafeText text={value} />
      </dd>
    </div>
  );
}

/** Objects by their fields, one level deep. */
function flat(name: string, value: unknown): readonly (readonly [name: string, value: string])[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[name, plain(value)]];
  return Object.entries(value).map(([field, inner]) => [`${name} ${field}`, plain(inner)] as const);
}

const plain = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? number(value) : JSON.stringify(value);

function Recipe({ run }: { run: RunDetail }) {
  const text = useMemo(() => run.recipeText, [run.recipeText]);
  if (text === undefined) return run.state === 'unreadable' ? <Empty title="There is no recipe to read." /> : null;
  return (
    <details class="card recipe" id="overview-recipe">
      <summary class="card-head">
        <h2 class="grow">Recipe</h2>
        <span class="muted">{text.split('\n').length} lines, every value resolved</span>
      </summary>
      <div class="card-body">
        <CopyButton text={text} label="Copy the recipe" />
        <SafeText text={text} as="block" class="mono" lines={2000} />
      </div>
    </details>
  );
}
