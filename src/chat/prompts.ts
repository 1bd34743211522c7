/** Our own wording of the system text, one a mode. Short: every rollout pays for each token of it. A recipe can set any other text. */
export type PromptMode = 'deliberative' | 'reactive' | 'plain';

const ANSWER = 'When sure, stop calling and give the answer in \\boxed{}.';

const TEXTS: Readonly<Record<PromptMode, string>> = {
  deliberative: `Solve the problem step by step. First analyse and plan, then let a tool calculate or check, one call a turn. ${ANSWER}`,
  reactive: `Solve the problem. Call tools early and often; let each result guide the next step. ${ANSWER}`,
  plain: 'Solve the problem step by step. Give the answer in \\boxed{}.',
};

/** @param own the recipe's text: it replaces the mode's; an empty one sends no system message */
export const systemText = (mode: PromptMode, own?: string): string => own ?? TEXTS[mode];
