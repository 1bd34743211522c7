/** A rollout as a person reads it: the question, each turn with its thinking, text, calls and what came back, and the answer with its box marked. */
import { type ComponentChildren, Fragment } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { CallProblem, Reply, Turn } from '../../../domain/turn.js';
import type { TrajectoryView } from '../../api.js';
import { Badge } from '../components/bits.js';
import { Pieces, SafeText } from '../components/SafeText.js';
import { counted, duration, count as whole } from '../format.js';
import { Code } from './Code.js';
import { callParts, markBox, partsOf, strayReplies, type TurnPart } from './conversation.js';

/** Thinking up to this many characters is open from the start. */
const SHORT_THINKING = 600;
/** A final answer beyond this is not searched for its box on the page. */
const LONGEST_ANSWER = 200_000;

interface ConversationProps {
  readonly view: TrajectoryView;
  /** 1-based; the turn that the address names. */
  readonly turn: number | undefined;
  readonly turnHref: (turn: number) => string;
  /** Opens or closes all thinking. */
  readonly thinking: boolean | undefined;
}

export function Conversation({ view, turn, turnHref, thinking }: ConversationProps) {
  const lines = numbered([view.segmentsOf, ...(view.branches ?? []).map(({ turns }) => turns)]);
  const count = lines.reduce((sum, line) => sum + line.length, 0);
  return (
    <div class="talk">
      {view.system !== '' && (
        <details class="said said-system">
          <summary>
            <span class="said-who">system</span> <span class="muted">{counted(view.system.length, 'character')}</span>
          </summary>
          <SafeText text={view.system} as="block" />
        </details>
      )}
      <section class="said said-question" aria-label="Question">
        <h3 class="said-who">question</h3>
        <SafeText text={view.question} as="block" />
      </section>
      {lines.map((turns, line) => (
        <Fragment key={line}>
          {lines.length > 1 && <h3 class="talk-line">{line === 0 ? 'First line of requests' : `Line ${line + 1}: its own prompt`}</h3>}
          {turns.map(({ turn: own, number }) => (
            <TurnBox
              key={number}
              number={number}
              turn={own}
              last={number === count}
              graded={number === count && view.finalText !== ''}
              named={turn === number}
              to={turnHref(number)}
              thinking={thinking}
            />
          ))}
        </Fragment>
      ))}
      {count === 0 && <p class="muted">The model wrote nothing.</p>}
    </div>
  );
}

/** Turns are counted through all lines of requests. */
function numbered(lines: readonly (readonly Turn[])[]): { readonly turn: Turn; readonly number: number }[][] {
  let number = 0;
  return lines.map((turns) => turns.map((turn) => ({ turn, number: ++number })));
}

interface TurnBoxProps {
  readonly number: number;
  readonly turn: Turn;
  readonly last: boolean;
  /** Whether its text is what is graded. */
  readonly graded: boolean;
  readonly named: boolean;
  readonly to: string;
  readonly thinking: boolean | undefined;
}

function TurnBox({ number, turn, last, graded, named, to, thinking }: TurnBoxProps) {
  const box = useRef<HTMLElement>(null);
  const parts = useMemo(() => partsOf(turn), [turn]);
  useEffect(() => {
    if (named) box.current?.scrollIntoView({ block: 'start' });
  }, [named]);
  return (
    <section class={`turn${named ? ' turn-named' : ''}`} ref={box} aria-label={`Turn ${number}`}>
      <header class="turn-head">
        <h3>
          <a href={to} title="A link to this turn">
            Turn {number}
          </a>
        </h3>
        <span class="muted">
          {counted(turn.tokens, 'token')} · policy {whole(turn.policyVersion)}
        </span>
        {turn.stop === 'length' && <Badge tone="warn">cut at a token limit</Badge>}
      </header>
      {parts.map((part, i) => (
        <PartBox key={i} part={part} graded={graded && part.kind === 'text' && !parts.slice(i + 1).some(isCall)} thinking={thinking} />
      ))}
      {parts.length === 0 && <p class="muted">An empty turn.</p>}
      {strayReplies(turn).map((reply, i) => (
        <ReplyBox key={i} reply={reply} />
      ))}
      {last && parts.some((part) => isCall(part) && part.reply === undefined) && (
        <p class="muted">The rollout ended before this call was answered.</p>
      )}
    </section>
  );
}

const isCall = (part: TurnPart): part is Extract<TurnPart, { kind: 'call' | 'malformed' | 'cutOff' }> =>
  part.kind === 'call' || part.kind === 'malformed' || part.kind === 'cutOff';

function PartBox({ part, graded, thinking }: { part: TurnPart; graded: boolean; thinking: boolean | undefined }) {
  switch (part.kind) {
    case 'thinking':
      return (
        <details class="said said-thinking" open={thinking ?? part.text.length <= SHORT_THINKING}>
          <summary>
            <span class="said-who">thinking</span> <span class="muted">{counted(part.text.length, 'character')}</span>
          </summary>
          <SafeText text={part.text} as="block" />
        </details>
      );
    case 'text':
      return graded ? (
        <Said who="answer" kind="answer">
          <Answer text={part.text} />
        </Said>
      ) : (
        <Said who="text" kind="text">
          <SafeText text={part.text} as="block" />
        </Said>
      );
    case 'call':
      return (
        <>
          <CallBox call={part.call} />
          {part.reply && <ReplyBox reply={part.reply} />}
        </>
      );
    case 'malformed':
      return (
        <>
          <Said who="call that cannot be read" kind="broken">
            <Code text={part.raw} language="text" label="The call as it was written" />
            <p class="bad">
              <Pieces text={part.problem} />
            </p>
          </Said>
          {part.reply && <ReplyBox reply={part.reply} />}
        </>
      );
    case 'cutOff':
      return (
        <>
          <Said who="call cut off by the token limit" kind="broken">
            <Code text={part.raw} language="text" label="The call as far as it was written" />
          </Said>
          {part.reply && <ReplyBox reply={part.reply} />}
        </>
      );
  }
}

function Said({ who, kind, children }: { who: ComponentChildren; kind: string; children: ComponentChildren }) {
  return (
    <div class={`said said-${kind}`}>
      <div class="said-who">{who}</div>
      {children}
    </div>
  );
}

/** Text with the box that is graded set apart. */
export function Answer({ text }: { text: string }) {
  const pieces = useMemo(() => (text.length > LONGEST_ANSWER ? undefined : markBox(text)), [text]);
  const box = pieces?.find(({ boxed }) => boxed);
  if (pieces === undefined || box === undefined || text.length > 8_000) {
    return (
      <>
        <SafeText text={text} as="block" />
        {box && text.length > 8_000 && (
          <p>
            Box: <mark class="boxed">{<SafeText text={box.text} />}</mark>
          </p>
        )}
      </>
    );
  }
  return (
    <bdi class="safe safe-block">
      {pieces.map((piece, i) =>
        piece.boxed ? (
          <mark key={i} class="boxed" title="This is graded">
            <Pieces text={piece.text} />
          </mark>
        ) : (
          <Pieces key={i} text={piece.text} />
        ),
      )}
    </bdi>
  );
}

function CallBox({ call }: { call: Extract<TurnPart, { kind: 'call' }>['call'] }) {
  const { code, others } = useMemo(() => callParts(call), [call]);
  const rest = Object.keys(others).length > 0 || code === undefined;
  return (
    <Said
      who={
        <>
          call of <SafeText text={call.name} class="call-name" />
        </>
      }
      kind="call"
    >
      {rest && <Code text={JSON.stringify(others, null, 2)} language="json" label="Arguments" />}
      {code && <Code text={code.text} language={code.language} label={`Argument ${code.argument}`} />}
      {call.repairs.length > 0 && (
        <p class="muted">
          Mended to be read: <Pieces text={call.repairs.join('; ')} />
        </p>
      )}
    </Said>
  );
}

const PROBLEMS: Readonly<Record<CallProblem, string>> = {
  malformed: 'not run: it could not be read',
  cutOff: 'not run: it was cut off',
  unknownTool: 'not run: there is no such tool',
  badArguments: 'not run: the arguments do not fit',
  tooManyCalls: 'not run: too many calls in one turn',
};

function ReplyBox({ reply }: { reply: Reply }) {
  if (reply.kind === 'refused') {
    return (
      <Said who={PROBLEMS[reply.problem] ?? 'not run'} kind="refused">
        <p class="muted">The model was told:</p>
        <SafeText text={reply.text} as="block" class="mono" />
      </Said>
    );
  }
  return (
    <Said
      who={
        <>
          {reply.success ? 'result' : 'error'} <span class="muted">after {duration(reply.seconds)}</span>
        </>
      }
      kind={reply.success ? 'result' : 'error'}
    >
      {reply.text === '' ? <p class="muted">Nothing was printed.</p> : <SafeText text={reply.text} as="block" class="mono" />}
    </Said>
  );
}
