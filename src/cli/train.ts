/** `toolwise train`. */
import type { Command } from 'commander';
import { registerLater } from './later.js';

export const register = (program: Command): void => registerLater(program, 'train', 'train');
