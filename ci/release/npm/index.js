'use strict';
// Where the program of this machine is, for programs that start it themselves:
//   const {path} = require('SCOPE/sortie');
// `node index.js` prints it.

const {join, dirname} = require('path');

const packages = {'linux x64': 'SCOPE/sortie-linux-x64', 'linux arm64': 'SCOPE/sortie-linux-arm64'};

function find() {
  const machine = `${process.platform} ${process.arch}`;
  const name = packages[machine];
  if (!name) {
    throw new Error(`sortie: there is no program for ${machine}; expected ${Object.keys(packages).join(' or ')}`);
  }
  try {
    return join(dirname(require.resolve(`${name}/package.json`)), 'bin', 'sortie');
  } catch (error) {
    throw new Error(`sortie: the npm package ${name} is not installed. It is an optional dependency of SCOPE/sortie: ` +
      'install that again without --omit=optional, and for this kind of machine', {cause: error});
  }
}

// Looked for when it is asked for, so that loading this module fails nowhere.
Object.defineProperty(module.exports, 'path', {enumerable: true, get: find});
module.exports.version = require('./package.json').version;

if (require.main === module) {
  process.stdout.write(`${find()}\n`);
}
