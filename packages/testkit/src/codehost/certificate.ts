// A certificate authority and a certificate for loopback, made when they are needed and kept in a folder that
// goes with the fake: the real client insists on HTTPS, and nothing secret is committed.
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type LoopbackCertificate = {
  key: string;
  cert: string;
  /** For `SSL_CERT_FILE` of whoever is to trust it. */
  authorityFile: string;
};

export async function makeLoopbackCertificate(folder: string): Promise<LoopbackCertificate> {
  const file = (name: string): string => join(folder, name);
  const openssl = (...args: string[]) => run('openssl', args, { cwd: folder });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await writeFile(file('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n');
  const authority = ['-keyout', 'ca.key', '-out', 'ca.crt', '-days', '2', '-subj', '/CN=svc test authority'];
  await openssl('req', '-x509', ...newKey, ...authority);
  await openssl('req', ...newKey, '-keyout', 'host.key', '-out', 'host.csr', '-subj', '/CN=localhost');
  const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names'];
  await openssl('x509', '-req', '-in', 'host.csr', ...signing, '-out', 'host.crt');
  return {
    key: await readFile(file('host.key'), 'utf8'),
    cert: await readFile(file('host.crt'), 'utf8'),
    authorityFile: file('ca.crt'),
  };
}
