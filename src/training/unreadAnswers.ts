/**
 * A batch in which the grader finds no answer at all teaches nothing about answers: the prompt asks for another form than the grader reads,
 * the model cannot give it yet, or training has broken it. Such a run stops with a sample, instead of training on lengths and calls alone.
 */
import type { Scored } from '../domain/group.js';
import { UserError } from '../userError.js';

/** Smaller batches may lack answers by chance. */
const MIN_ROLLOUTS = 32;
/** Characters of the sample's end. */
const SAMPLE = 300;

/**
 * @param members the scored rollouts of one step; those judged without a verdict are not looked at
 * @throws UserError where there are at least 32 verdicts and none of them found an answer or a program
 */
export function refuseUnreadAnswers(members: readonly Pick<Scored, 'trajectory' | 'verdict'>[], step: number): void {
  const graded = members.filter(({ verdict }) => verdict !== undefined);
  if (graded.length < MIN_ROLLOUTS) return;
  if (!graded.every(({ verdict }) => verdict?.reason === 'noAnswer' || verdict?.reason === 'noProgram')) return;
  const { trajectory } = graded.find((member) => member.trajectory.finalText.trim() !== '') ?? graded[0]!;
  const text = trajectory.finalText.trim();
  throw new UserError(
    `the grader found no answer in any of the ${graded.length} rollouts of RL step ${step + 1}; one of them ends (${trajectory.stopReason.kind}): ${JSON.stringify(text.slice(-SAMPLE))}`,
    step === 0
      ? 'Let the prompt ask for the form that the grader reads, for example \\boxed{}; begin with supervised fine-tuning; or give a grader or reward of your own.'
      : 'Earlier steps had answers: the policy broke on the way. Lower rl.learningRate and start anew; a checkpoint of an earlier step still gives them.',
  );
}
