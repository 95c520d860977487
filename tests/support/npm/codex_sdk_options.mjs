// Uses all options and methods of the TypeScript SDK of codex with sortie, each in a step of its own,
// and prints what came of it as one line of JSON. A step that fails prints `error`.
//
//     node codex_sdk_options.mjs PACKAGES SORTIE FOLDER
//
// The model is a server in this process, whose answers depend on the prompt. FOLDER has the workspace `work`, the folder `beside`, the images `a.png` and `b.png`, and a `home`
// for threads.
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [packages, sortie, folder] = process.argv.slice(2);
const sdk = join(packages, 'node_modules/@openai/codex-sdk/dist/index.js');
const { Codex } = await import(pathToFileURL(sdk));

// The model.
const message = (text) =>
  ({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] });
let calls = 0;
const call = (name, args) => ({
  type: 'function_call', name, call_id: `call_${++calls}`, arguments: JSON.stringify(args),
});
const shell = (line) => call('shell', { command: ['sh', '-c', line] });
const patch = '*** Begin Patch\n*** Add File: patched.txt\n+one\n*** End Patch\n';
const answer = (prompt, answered) => {
  if (answered && prompt === 'schema') return [message('{"n":3}')];
  if (answered) return [message(`Done with ${prompt}.`)];
  const n = prompt.match(/^write (\d)/)?.[1];
  if (n) return [shell(`echo x > made-${n}.txt; echo x > ${join(folder, `beside/made-${n}.txt`)}`)];
  if (prompt === 'slow') return [shell('sleep 600')];
  if (prompt === 'env') return [shell('env')];
  if (prompt !== 'items') return [message(prompt === 'schema' ? '{"n":3}' : 'Answered.')];
  return [
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'I think.' }],
      encrypted_content: 'x' },
    { type: 'web_search_call', id: 'ws_1', status: 'completed',
      action: { type: 'search', query: 'sortie' } },
    message('I begin.'), shell('echo hi'), shell('exit 3'),
    { type: 'custom_tool_call', call_id: 'call_patch', name: 'apply_patch', input: patch },
    call('update_plan', { plan: [{ step: 'one', status: 'in_progress' }] }),
    call('update_plan', { plan: [{ step: 'one', status: 'completed' }] }),
    call('read_file', { path: 'a.txt' }),
  ];
};
const requests = [];
const server = createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  const body = JSON.parse(text);
  requests.push({ url: request.url, headers: request.headers, body });
  const users = body.input.filter((item) => item.role === 'user');
  const prompt = users.at(-1).content[0].text;
  const output = answer(prompt, body.input.at(-1).role !== 'user');
  const lines = [
    { type: 'response.created', response: { id: 'resp_1' } },
    ...output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    { type: 'response.completed', response: {
      id: 'resp_1', model: body.model, output, usage: {
        input_tokens: 42, input_tokens_details: { cached_tokens: 12 }, output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 1 }, total_tokens: 47,
      },
    } },
  ];
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  response.end(lines.map((line) => `event: ${line.type}\ndata: ${JSON.stringify(line)}\n\n`).join(''));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/v1`;

// The published types of the events (the package's index.d.ts), as far as they say what must be there.
// 'declined' is what sortie has beyond them.
const ended = ['in_progress', 'completed', 'failed', 'declined'];
const is = (type) => (value) => typeof value === type;
const orNull = (check) => (value) => value === null || value === undefined || check(value);
const shapes = {
  agent_message: { text: is('string') },
  reasoning: { text: is('string') },
  error: { message: is('string') },
  web_search: { query: is('string') },
  command_execution: {
    command: is('string'), aggregated_output: is('string'), exit_code: orNull(is('number')),
    status: (value) => ended.includes(value),
  },
  file_change: {
    changes: (value) => value.every((one) => is('string')(one.path) &&
      ['add', 'delete', 'update'].includes(one.kind)),
    status: (value) => ended.includes(value),
  },
  mcp_tool_call: {
    server: is('string'), tool: is('string'), arguments: (value) => value !== undefined,
    result: orNull((value) => Array.isArray(value.content) && 'structured_content' in value),
    error: orNull((value) => is('string')(value.message)),
    status: (value) => ended.includes(value),
  },
  todo_list: {
    items: (value) => value.every((one) => is('string')(one.text) && is('boolean')(one.completed)),
  },
};
const usage = ['input_tokens', 'cached_input_tokens', 'cache_write_input_tokens', 'output_tokens',
  'reasoning_output_tokens'];
const wrong_in = (event) => {
  if (event.type === 'turn.completed')
    return usage.filter((name) => !is('number')(event.usage[name]));
  if (!event.type.startsWith('item.')) return [];
  const shape = shapes[event.item.type];
  if (!shape || !/^item_\d+$/.test(event.item.id)) return [event.item.type];
  return Object.keys(shape).filter((name) => !shape[name](event.item[name]))
    .map((name) => `${event.item.type}.${name}`);
};

const made = (more = {}) => new Codex({
  codexPathOverride: sortie,
  baseUrl: url,
  apiKey: 'sk-of-the-sdk-0123456789',
  env: { CODEX_HOME: join(folder, 'home'), PATH: process.env.PATH, FROM_ENV: 'of env' },
  ...more,
});
const workingDirectory = join(folder, 'work');
// `sent` is the last request of the step.
const step = async (name, act) => {
  const before = requests.length;
  let came = {};
  try {
    came = await act();
  } catch (error) {
    came = { error: `${error.name}: ${error.message}` };
  }
  const sent = requests.length > before ? requests.at(-1) : null;
  console.log(JSON.stringify({ step: name, ...came, sent }));
};
const ask = async (options, prompt = 'go', turn = {}, codex = made()) => {
  const thread = codex.startThread({ workingDirectory, ...options });
  const answered = await thread.run(prompt, turn);
  return { id: thread.id, ...answered };
};

for (const effort of ['minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra', 'persistent'])
  await step(`effort ${effort}`, () => ask({ modelReasoningEffort: effort }));
for (const mode of ['disabled', 'cached', 'live'])
  await step(`search ${mode}`, () => ask({ webSearchMode: mode }));
for (const on of [true, false])
  await step(`search ${on}`, () => ask({ webSearchEnabled: on }));
for (const policy of ['never', 'on-request', 'on-failure', 'untrusted'])
  await step(`approval ${policy}`, () => ask({ approvalPolicy: policy }));
// Each writes work/made-N.txt and beside/made-N.txt, as far as it may.
for (const [n, mode] of ['read-only', 'workspace-write', 'danger-full-access'].entries())
  await step(`sandbox ${mode}`, async () => {
    await ask({ sandboxMode: mode, additionalDirectories: [join(folder, 'beside')] }, `write ${n}`);
    return {
      work: existsSync(join(workingDirectory, `made-${n}.txt`)),
      beside: existsSync(join(folder, `beside/made-${n}.txt`)),
    };
  });
await step('network', () => ask({ networkAccessEnabled: true, sandboxMode: 'workspace-write' }));
await step('model', () => ask({ model: 'gpt-5.1', threadSource: 'a test' }));
await step('cyber', () => ask({}, 'go', { cyberAccessProgram: 'standard' }));
await step('config', () => ask({}, 'env', {}, made({
  config: {
    model_reasoning_summary: 'detailed', show_raw_agent_reasoning: true, project_doc_max_bytes: 0,
    shell_environment_policy: { inherit: 'all', set: { FROM_CONFIG: 'a "b" c' } },
    tools: {},
  },
  configOverrides: ['model="of-overrides"'],
})));
await step('mine', () => ask({}, 'go', {}, made({
  baseUrl: undefined,
  config: {
    model_provider: 'mine',
    model_providers: {
      mine: {
        base_url: url, query_params: { team: 'ci' }, http_headers: { 'X-Team': 'sdk' },
        env_http_headers: { 'X-From-Env': 'FROM_ENV' }, requires_openai_auth: true,
      },
    },
  },
})));
await step('schema', async () => {
  const schema = {
    type: 'object', properties: { n: { type: 'integer' } }, required: ['n'],
    additionalProperties: false,
  };
  const turn = await ask({}, 'schema', { outputSchema: schema });
  const left = readdirSync(process.env.TMPDIR ?? '/tmp').filter((n) => n.startsWith('codex-output-'));
  return { ...JSON.parse(turn.finalResponse), left: left.length };
});
await step('schema wrong', () => ask({}, 'go', { outputSchema: { type: 'nonsense' } }));
await step('images', () => ask({ skipGitRepoCheck: true, workingDirectory: folder }, [
  { type: 'text', text: 'compare' },
  { type: 'local_image', path: join(folder, 'a.png') },
  { type: 'text', text: 'these' },
  { type: 'local_image', path: join(folder, 'b.png') },
]));
await step('no image', () => ask({}, [
  { type: 'text', text: 'look' }, { type: 'local_image', path: join(folder, 'none.png') },
]));
await step('unknown thread', async () =>
  made().resumeThread('0199a0a0-0000-7000-8000-000000000000').run('go'));
await step('aborted before', () => ask({}, 'go', { signal: AbortSignal.abort() }));
await step('items', async () => {
  const thread = made().startThread({ workingDirectory, sandboxMode: 'workspace-write' });
  const { events } = await thread.runStreamed('items');
  const kinds = new Set();
  const wrong = [];
  const open = new Set();
  const types = [];
  for await (const event of events) {
    wrong.push(...wrong_in(event));
    types.push(event.type);
    if (event.type === 'item.started') open.add(event.item.id);
    if (event.type !== 'item.completed') continue;
    open.delete(event.item.id);
    kinds.add(event.item.type);
  }
  kinds.delete('error');  // what this machine's sandbox lacks
  const found = [...kinds].sort().join(' ');
  return { kinds: found, wrong, open: open.size, last: types.at(-1) };
});
await step('at once', async () => {
  const turns = await Promise.all([1, 2, 3].map((n) => ask({}, `at once ${n}`)));
  return { ids: new Set(turns.map((turn) => turn.id)).size };
});
await step('abort and go on', async () => {
  const options = { workingDirectory };
  const thread = made().startThread(options);
  const stop = new AbortController();
  const { events } = await thread.runStreamed('slow', { signal: stop.signal });
  try {
    for await (const event of events) if (event.type === 'item.started') stop.abort();
  } catch (error) {
    const next = await made().resumeThread(thread.id, options).run('after');
    return { why: error.name, answer: next.finalResponse, same: thread.id !== null };
  }
  return {};
});
await step('left alone', async () => {  // a reader that stops in the middle
  const { events } = await made().startThread({ workingDirectory }).runStreamed('slow');
  for await (const event of events) if (event.type === 'item.started') break;
  return {};
});
server.close();
server.closeAllConnections();
