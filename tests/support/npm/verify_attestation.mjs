// Signs a run's attestation.json as cosign and GitHub's attest action do (a DSSE envelope in a
// sigstore bundle), with a key made here, and checks it with sigstore's own verifier: as it is, and
// with one byte changed. Then checks the statement as a consumer does: types, and the digest of each
// subject. Prints the names of the subjects that fit.
//
//     node verify_attestation.mjs PACKAGES RUN_DIR
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [packages, run] = process.argv.slice(2);
const require = createRequire(join(packages, 'package.json'));
const { bundleFromJSON } = require('@sigstore/bundle');
const { crypto: keys, dsse } = require('@sigstore/core');
const { Verifier, toSignedEntity } = require('@sigstore/verify');

const payloadType = 'application/vnd.in-toto+json';
const payload = readFileSync(join(run, 'attestation.json'));
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const signature = sign('sha256', dsse.preAuthEncoding(payloadType, payload), privateKey);

function verify(bytes) {
  const bundle = bundleFromJSON({
    mediaType: 'application/vnd.dev.sigstore.bundle+json;version=0.1',
    verificationMaterial: { publicKey: { hint: 'own' }, tlogEntries: [] },
    dsseEnvelope: {
      payload: bytes.toString('base64'),
      payloadType,
      signatures: [{ sig: signature.toString('base64'), keyid: '' }],
    },
  });
  const trusted = {
    certificateAuthorities: [],
    timestampAuthorities: [],
    tlogs: [],
    ctlogs: [],
    publicKey: () => ({
      publicKey: keys.createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })),
      validFor: () => true,
    }),
  };
  new Verifier(trusted, { tlogThreshold: 0, ctlogThreshold: 0, tsaThreshold: 0 }).verify(
    toSignedEntity(bundle));
  return JSON.parse(bytes);
}

const changed = Buffer.from(payload);
changed[changed.length >> 1] ^= 1;
let refused = false;
try {
  verify(changed);
} catch (error) {
  refused = error.code === 'SIGNATURE_ERROR' || /signature/i.test(error.message);
}
if (!refused) throw new Error('a changed statement was accepted');

const statement = verify(payload);
if (statement._type !== 'https://in-toto.io/Statement/v1') throw new Error('not a Statement v1');
if (statement.predicateType !== 'https://slsa.dev/provenance/v1') throw new Error('no provenance');
for (const subject of statement.subject) {
  const digest = createHash('sha256').update(readFileSync(join(run, subject.name))).digest('hex');
  if (subject.digest.sha256 !== digest) throw new Error(`${subject.name} has another digest`);
  console.log(subject.name);
}
