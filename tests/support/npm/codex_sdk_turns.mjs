// Works with sortie through the TypeScript SDK of codex, as its users do, and prints what came of each
// step as one line of JSON.
//
//     node codex_sdk_turns.mjs PACKAGES SORTIE URL FOLDER
//
// FOLDER has the workspace `work`, the image `a.png` and a `home` for threads.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [packages, sortie, url, folder] = process.argv.slice(2);
const sdk = join(packages, 'node_modules/@openai/codex-sdk/dist/index.js');
const { Codex } = await import(pathToFileURL(sdk));

const codex = new Codex({
  codexPathOverride: sortie,
  baseUrl: url,
  apiKey: 'sk-of-the-sdk-0123456789',
  env: { CODEX_HOME: join(folder, 'home') },
  config: { model_reasoning_summary: 'concise', shell_environment_policy: { set: { A: 'b' } } },
});
const options = {
  workingDirectory: join(folder, 'work'),
  sandboxMode: 'workspace-write',
  model: 'gpt-5',
  modelReasoningEffort: 'low',
  networkAccessEnabled: false,
  webSearchMode: 'disabled',
  approvalPolicy: 'never',
  additionalDirectories: [join(folder, 'beside')],
  threadSource: 'a test',
};
const print = (step, what) => console.log(JSON.stringify({ step, ...what }));
const messages = (turn) => turn.items.filter((item) => item.type === 'agent_message').length;

const thread = codex.startThread(options);
const first = await thread.run('first');
print('run', {
  id: thread.id, answer: first.finalResponse, messages: messages(first), usage: first.usage,
});

const second = await thread.run('second');
print('again', { id: thread.id, answer: second.finalResponse });

const { events } = await codex.resumeThread(thread.id, options).runStreamed('third');
const story = [];
for await (const event of events)
  if (event.item?.type !== 'error') story.push(event.type + (event.item ? `:${event.item.type}` : ''));
print('streamed', { story });

const outputSchema = {
  type: 'object', properties: { n: { type: 'integer' } }, required: ['n'],
  additionalProperties: false,
};
const fourth = await codex.startThread(options).run('fourth', { outputSchema });
print('schema', { answer: JSON.parse(fourth.finalResponse) });

const fifth = await codex.startThread({ ...options, skipGitRepoCheck: true }).run([
  { type: 'text', text: 'look' },
  { type: 'text', text: 'closely' },
  { type: 'local_image', path: join(folder, 'a.png') },
]);
print('images', { answer: fifth.finalResponse });

const aborted = codex.startThread(options);
const stop = new AbortController();
let why = '';
try {
  const streamed = await aborted.runStreamed('sixth', { signal: stop.signal });
  for await (const event of streamed.events)
    if (event.type === 'item.started') stop.abort();
} catch (error) {
  why = error.name;
}
print('abort', { why });
const after = await codex.resumeThread(aborted.id, options).run('seventh');
print('after', { answer: after.finalResponse });

let refused = '';
try {
  await codex.startThread(options).run('eighth');
} catch (error) {
  refused = error.message;
}
print('refused', { refused });

let outside = '';
try {
  await codex.startThread({ workingDirectory: folder }).run('x'.repeat(1 << 20));
} catch (error) {
  outside = error.message;
}
print('outside', { outside });
