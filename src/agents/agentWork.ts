/** How each kind of agent works on one problem: a function is called, a program is started, a service is asked. */
import type { Problem } from '../domain/problem.js';
import type { Agent } from './agent.js';
import { callFunction } from './agentFunction.js';
import { runProgram } from './agentProgram.js';
import { askService } from './agentService.js';
import type { AgentEnd, AgentTask } from './agentTask.js';

/** Ends soon after the task's signal is aborted. Never rejects. */
export function workOn<P extends Problem>(agent: Agent<P>, task: AgentTask<P>): Promise<AgentEnd> {
  switch (agent.kind) {
    case 'function':
      return callFunction(agent.definition, task);
    case 'program':
      return runProgram(agent.definition, task);
    case 'service':
      return askService(agent.definition, task);
  }
}
