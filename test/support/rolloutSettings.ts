/** What tests of rollouts share: a chat format, and settings around a scripted sampler. Says nothing about tools or scripts. */
import { ChatFormat } from '../../src/chat/chatFormat.js';
import { type Limits, recipeSchema } from '../../src/recipe/schema.js';
import type { RolloutSettings } from '../../src/rollout/episode.js';
import { type AnyTool, Toolbox } from '../../src/tools/callTool.js';
import { modelFolder, TOOL_CHATML } from './modelFolder.js';
import { type Script, type ScriptedSampler, scriptedSampler } from './scriptedSampler.js';

/** Of a model folder that is gone again when this returns. */
export async function chatFormatOf(template = TOOL_CHATML): Promise<ChatFormat> {
  const folder = await modelFolder(template);
  try {
    return await ChatFormat.load(folder.path);
  } finally {
    await folder.remove();
  }
}

/** A recipe's own limits but for those given; no system message. */
export function scriptedRollout(
  format: ChatFormat,
  script: Script,
  tools: readonly AnyTool[],
  { limits = {}, settings = {} }: { readonly limits?: Partial<Limits>; readonly settings?: Partial<RolloutSettings> } = {},
): { sampler: ScriptedSampler; settings: RolloutSettings } {
  const sampler = scriptedSampler(format, script);
  return {
    sampler,
    settings: {
      sampler,
      format,
      tools: new Toolbox(tools),
      limits: { ...recipeSchema.shape.limits.parse({}), ...limits },
      sampling: { temperature: 1, topP: 1 },
      system: '',
      ...settings,
    },
  };
}
