/**
 * The README of an exported model: what it was made from and how, what was measured, how to load it. Names no folder and no address of the
 * machine it was made on. Writes nothing.
 */
import type { CheckpointRecord, EvaluationRecord, Stage } from '../domain/event.js';
import type { RunInfo } from '../runs/runInfo.js';
import type { ExportFormat } from './exportRun.js';

export interface CardParts {
  /** The heading. */
  readonly title: string;
  readonly format: ExportFormat;
  readonly dtype: string;
  readonly info: RunInfo;
  /** Absent: the model that the run began with, untrained. */
  readonly checkpoint?: CheckpointRecord;
  readonly base: { readonly name: string; readonly onHub: boolean; readonly source: string; readonly hash?: string };
  /** Rank of the adapter; absent where all weights were trained. */
  readonly rank?: number;
  /** Updates made in each stage up to the checkpoint. */
  readonly steps: Partial<Record<Stage, number>>;
  /** The main evaluations up to the checkpoint, oldest first. */
  readonly evaluations: readonly EvaluationRecord[];
  /** What the run asked with; empty: none. */
  readonly system: string;
  readonly tools: readonly string[];
}

export function modelCard(parts: CardParts): string {
  const { info, checkpoint, base, rank, system, tools } = parts;
  const { recipe } = info;
  const by = `Toolwise ${info.versions.toolwise ?? ''}`.trim();
  const trained = checkpoint
    ? `Trained from ${base.name} with ${by}, recipe \`${recipe.name}\`${recipe.follows ? ` (after the paper's ${recipe.follows})` : ''}, ` +
      `${rank === undefined ? 'all weights' : `a LoRA adapter of rank ${rank}${parts.format === 'peft' ? '' : ', merged'}`}: ${stepsText(parts)}.`
    : `${base.name} as the run began with it: not trained.`;
  const asked = [
    ...(tools.length > 0 ? [`Tools offered while training: ${tools.map((name) => `\`${name}\``).join(', ')}.`] : []),
    ...(system === '' ? [] : ['The system message of the run:', '', fenced(system)]),
  ];
  return [
    frontMatter(parts),
    `# ${parts.title}`,
    '',
    trained,
    '',
    `- base model: ${base.name} (${base.source})`,
    ...(base.hash ? [`- SHA-256 of its weights: \`${base.hash}\``] : []),
    `- precision here: ${parts.dtype}${parts.format === 'gguf' ? ' (vectors in float32)' : ''}`,
    `- seed: ${info.seed}`,
    '- licence: that of the base model',
    '',
    ...evaluationTable(parts.evaluations),
    '## Loading',
    '',
    fenced(loading(parts), parts.format === 'gguf' ? 'sh' : 'python'),
    '',
    ...(asked.length > 0 ? ['## Asking', '', ...asked, ''] : []),
  ].join('\n');
}

function frontMatter({ format, base, checkpoint }: CardParts): string {
  const relation = !checkpoint ? undefined : format === 'peft' ? 'adapter' : 'finetune';
  return [
    '---',
    `library_name: ${format === 'hf' ? 'transformers' : format}`,
    ...(base.onHub ? [`base_model: ${base.name}`, ...(relation ? [`base_model_relation: ${relation}`] : [])] : []),
    'pipeline_tag: text-generation',
    'tags:',
    '- toolwise',
    '---',
    '',
  ].join('\n');
}

function stepsText({ checkpoint, steps }: CardParts): string {
  const parts = [
    ...(steps.sft ? [`${steps.sft} updates of supervised fine-tuning`] : []),
    ...(steps.rl ? [`${steps.rl} steps of reinforcement learning`] : []),
  ];
  return parts.length > 0 ? parts.join(', then ') : `${checkpoint!.stage}, step ${checkpoint!.step}`;
}

function evaluationTable(evaluations: readonly EvaluationRecord[]): string[] {
  if (evaluations.length === 0) return [];
  const percent = (value: number | undefined): string => (value === undefined ? '–' : `${(value * 100).toFixed(1)}%`);
  return [
    '## Measured in the run',
    '',
    '| after | right | 95% interval | problems | rollouts a problem | temperature | top-p |',
    '|---|---|---|---|---|---|---|',
    ...evaluations.map(({ stage, step, metrics: m }) => {
      const when = stage === 'base' ? 'nothing' : stage === 'sft' ? 'SFT' : `${step} RL steps`;
      const interval = m.intervalLow === undefined ? '–' : `${percent(m.intervalLow)} to ${percent(m.intervalHigh)}`;
      const rest = [m.problems, m.samples, m.temperature, m.topP].map((value) => value ?? '–');
      return `| ${[when, percent(m.accuracy), interval, ...rest].join(' | ')} |`;
    }),
    '',
    "On the run's own evaluation problems; other problems will give other figures.",
    '',
  ];
}

function loading({ format, base, dtype }: CardParts): string {
  if (format === 'gguf') return 'llama-cli -m FILE.gguf --jinja';
  const imports = 'import torch\nfrom transformers import AutoModelForCausalLM, AutoTokenizer\n';
  const tokenizer = (folder: string): string => `tokenizer = AutoTokenizer.from_pretrained("${folder}")`;
  if (format === 'hf')
    return `${imports}\nmodel = AutoModelForCausalLM.from_pretrained("FOLDER", dtype=torch.${dtype})\n${tokenizer('FOLDER')}`;
  const from = base.onHub ? base.name : `FOLDER OF ${base.name}`;
  return [
    `${imports}from peft import PeftModel\n`,
    `base = AutoModelForCausalLM.from_pretrained("${from}")`,
    'model = PeftModel.from_pretrained(base, "FOLDER")',
    tokenizer(from),
  ].join('\n');
}

/** A fence longer than any in the text. */
function fenced(text: string, language = ''): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
