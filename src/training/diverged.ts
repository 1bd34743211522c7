/** A number of the training that is not finite: the run ended by its own fault. What it had made before is in its folder. */
import { UserError } from '../userError.js';

export class Diverged extends UserError {}
