// kubernetes_check.mjs PACKAGES FILE…: checks each document of YAML files as `kubectl apply` would have it
// checked: by the schemas that Kubernetes publishes (package kubernetes-models), with every field known
// (the API server refuses others, the schemas don't), and a Job by the rules that the API's reference
// has in words. Prints what is wrong, a line each; exits with 1 then.
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';

const [packages, ...files] = process.argv.slice(2);
const require = createRequire(path.join(packages, 'package.json'));
const {parseAllDocuments} = require('yaml');
const root = path.dirname(require.resolve('kubernetes-models/package.json'));
const problems = [];

/// The file with the declaration of a type that another declaration names; null for a plain type.
function file_of(type, declaration, file) {
  const from = declaration.match(new RegExp(`import \\{[^}]*\\b${type}\\b[^}]*\\} from "([^"]+)"`));
  if (!from) return null;
  const base = from[1].startsWith('.') ? path.dirname(file) : path.join(root, '..');
  return `${path.join(base, from[1]).replace(/\.js$/, '')}.d.ts`;
}

/// Members of a declared interface: name → type.
function members_of(declaration) {
  const body = declaration.slice(declaration.indexOf('export interface'));
  const members = new Map();
  for (const line of body.slice(0, body.indexOf('\n}')).split('\n')) {
    const member = line.match(/^ {4}"?([\w$-]+)"?\??: (.+)$/);
    if (member) members.set(member[1], member[2]);
  }
  return members;
}

function check_fields(value, file, place) {
  if (value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) {
    value.forEach((item, i) => check_fields(item, file, `${place}[${i}]`));
    return;
  }
  const declaration = readFileSync(file, 'utf8');
  const members = members_of(declaration);
  if (members.size === 0) throw new Error(`${file}: no members found`);
  for (const [name, member] of Object.entries(value)) {
    if (!members.has(name)) {
      problems.push(`${place}.${name}: unknown field`);
      continue;
    }
    const type = members.get(name).match(/\bI[A-Z]\w+/);
    const next = type && file_of(type[0], declaration, file);
    if (next) check_fields(member, next, `${place}.${name}`);
  }
}

/// What the reference of Job and Pod says in words.
function check_job({spec}, place) {
  const wrong = (field, what) => problems.push(`${place}.spec.${field}: ${what}`);
  const pod = spec.template.spec;
  if (spec.completionMode === 'Indexed' && !spec.completions)
    wrong('completions', 'required by the completion mode Indexed');
  for (const name of ['backoffLimitPerIndex', 'maxFailedIndexes'])
    if (spec[name] !== undefined && spec.completionMode !== 'Indexed')
      wrong(name, 'only with the completion mode Indexed');
  if (spec.maxFailedIndexes > spec.completions) wrong('maxFailedIndexes', 'more than completions');
  if (spec.podFailurePolicy && pod.restartPolicy !== 'Never')
    wrong('podFailurePolicy', 'needs the restart policy Never');
  if (spec.podFailurePolicy && spec.podReplacementPolicy === 'TerminatingOrFailed')
    wrong('podReplacementPolicy', 'Failed alone with a pod failure policy');
  const containers = [...(pod.initContainers ?? []), ...pod.containers].map(({name}) => name);
  for (const [i, rule] of (spec.podFailurePolicy?.rules ?? []).entries()) {
    const at = `podFailurePolicy.rules[${i}]`;
    if (!['FailIndex', 'FailJob', 'Ignore', 'Count'].includes(rule.action))
      wrong(`${at}.action`, `unknown action ${rule.action}`);
    if (rule.action === 'FailIndex' && spec.backoffLimitPerIndex === undefined)
      wrong(`${at}.action`, 'FailIndex needs backoffLimitPerIndex');
    if (!!rule.onExitCodes === !!rule.onPodConditions)
      wrong(at, 'one of onExitCodes and onPodConditions');
    const values = rule.onExitCodes?.values ?? [1];
    if (!['In', 'NotIn'].includes(rule.onExitCodes?.operator ?? 'In'))
      wrong(`${at}.onExitCodes.operator`, 'In or NotIn');
    if (values.some((v, n) => !(v > (n ? values[n - 1] : -1)) || v > 255 || v === 0))
      wrong(`${at}.onExitCodes.values`, 'from 1 to 255, sorted, each once');
    if (rule.onExitCodes && !containers.includes(rule.onExitCodes.containerName))
      wrong(`${at}.onExitCodes.containerName`, 'no such container');
  }
  const volumes = (pod.volumes ?? []).map(({name}) => name);
  for (const container of [...(pod.initContainers ?? []), ...pod.containers])
    for (const mount of container.volumeMounts ?? [])
      if (!volumes.includes(mount.name))
        wrong(`template.spec.${container.name}.volumeMounts`, `no volume ${mount.name}`);
}

for (const file of files) {
  const documents = parseAllDocuments(readFileSync(file, 'utf8'), {version: '1.1', merge: true});
  if (documents.length === 0) problems.push(`${file}: empty`);
  documents.forEach((document, i) => {
    const place = `${file}#${i}`;
    for (const error of document.errors) problems.push(`${place}: ${error.message}`);
    if (document.errors.length) return;
    const value = document.toJS();
    const module = `${value.apiVersion}/${value.kind}`;
    let Model;
    try {
      Model = require(path.join(root, `${module}.js`))[value.kind];
    } catch {
      problems.push(`${place}: unknown kind ${module}`);
      return;
    }
    try {
      new Model(value).validate();
    } catch (error) {
      problems.push(`${place}: ${error.message}`);
      return;
    }
    check_fields(value, path.join(root, `${module}.d.ts`), place);
    if (value.kind === 'Job') check_job(value, place);
  });
}
for (const problem of problems) console.log(problem);
process.exit(problems.length ? 1 : 0);
