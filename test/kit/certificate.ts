import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A self-signed certificate made for a test, as text and as the file that a client may trust as its `ca`. */
export interface TestCertificate {
  readonly key: string;
  readonly cert: string;
  /** Path of the certificate. */
  readonly ca: string;
  dispose(): void;
}

/** Makes one with openssl; `names` as in subjectAltName, by default those of loopback. */
export function selfSignedCertificate(names = 'DNS:localhost,IP:127.0.0.1', ...more: string[]): TestCertificate {
  const folder = mkdtempSync(join(tmpdir(), 'hw-cert-'));
  const key = join(folder, 'key.pem');
  const ca = join(folder, 'cert.pem');
  const what = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=test', '-addext'];
  execFileSync('openssl', [...what, `subjectAltName=${names}`, '-keyout', key, '-out', ca, ...more], {
    stdio: 'ignore',
  });
  const read = (file: string) => readFileSync(file, 'utf8');
  return { key: read(key), cert: read(ca), ca, dispose: () => rmSync(folder, { recursive: true, force: true }) };
}
