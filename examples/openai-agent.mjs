/**
 * An agent with the OpenAI client, in a process of its own, as any program in any language would be: it reads the problem from its standard
 * input, finds the policy by OPENAI_BASE_URL and OPENAI_API_KEY in its environment, and prints its answer.
 *
 *     npx toolwise train nano --set 'agent={ command: [node, examples/openai-agent.mjs] }' --set rl.steps=5
 */
import { json } from 'node:stream/consumers';
import OpenAI from 'openai';

const { problem, model } = await json(process.stdin);
const client = new OpenAI();

const tools = [
  {
    type: 'function',
    function: {
      name: 'code_interpreter', // the name that nano was pretrained to call
      description: 'The value of a calculation, such as print(12*34+5).',
      parameters: { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
    },
  },
];

/** Numbers with + - * and %, products first. What a model wrote is read, never run. */
function calculate({ code }) {
  const [, sum] = /^print\((-?\d+(?:[-+*%]\d+)*)\)$/.exec(code ?? '') ?? [];
  if (sum === undefined) return 'only print() of a calculation with + - * and % is understood';
  const terms = sum.match(/[-+]?\d+(?:[*%]\d+)*/g).map((term) => {
    const [first, ...rest] = term.match(/[-+]?\d+|[*%]\d+/g);
    return rest.reduce((value, part) => (part[0] === '*' ? value * Number(part.slice(1)) : value % Number(part.slice(1))), Number(first));
  });
  return String(terms.reduce((total, term) => total + term, 0));
}

const messages = [{ role: 'user', content: problem.question }];
for (;;) {
  const { choices } = await client.chat.completions.create({ model, messages, tools });
  const { message } = choices[0];
  messages.push(message);
  if (!message.tool_calls) {
    console.log(message.content);
    break;
  }
  for (const { id, function: called } of message.tool_calls) {
    messages.push({ role: 'tool', tool_call_id: id, content: calculate(JSON.parse(called.arguments)) });
  }
}
