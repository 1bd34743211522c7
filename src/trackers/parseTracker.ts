/** A tracker as the command line names it: `tensorboard[:FOLDER]`, `mlflow:URL[#EXPERIMENT]`, `wandb:[ENTITY/]PROJECT`, `webhook:URL`. */
import { UserError } from '../userError.js';
import { mlflow } from './mlflow.js';
import { tensorboard } from './tensorboard.js';
import type { Tracker } from './tracker.js';
import { wandb } from './wandb.js';
import { webhook } from './webhook.js';

/** @throws UserError for one that is not known, or lacks its address */
export function parseTracker(text: string): Tracker {
  const at = text.indexOf(':');
  const [kind, rest] = at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
  switch (kind) {
    case 'tensorboard':
      return tensorboard(rest === '' ? {} : { folder: rest });
    case 'mlflow': {
      const [url, experiment] = rest.split('#', 2);
      if (!url) throw lacks(kind, 'the address of a server', 'mlflow:http://127.0.0.1:5000');
      return mlflow({ url, ...(experiment && { experiment }) });
    }
    case 'wandb': {
      const [entity, project] = rest.includes('/') ? rest.split('/', 2) : [undefined, rest];
      if (!project) throw lacks(kind, 'a project', 'wandb:my-project');
      return wandb({ project, ...(entity && { entity }) });
    }
    case 'webhook':
      if (rest === '') throw lacks(kind, 'an address', 'webhook:https://example.org/hook');
      return webhook({ url: rest });
    default:
      throw new UserError(`unknown tracker ${JSON.stringify(kind)}`, 'Known: tensorboard, mlflow:URL, wandb:PROJECT, webhook:URL.');
  }
}

const lacks = (kind: string, what: string, example: string): UserError =>
  new UserError(`--track ${kind} needs ${what}`, `For example --track ${example}`);
