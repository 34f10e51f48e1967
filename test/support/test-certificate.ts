import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface Certificate {
  readonly key: string
  readonly cert: string
  /** Who signed it: no authority that a runtime knows. */
  readonly authority: string
}

const NEW_KEY = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2'

/** For `localhost` and 127.0.0.1, of an authority made for the purpose. */
export async function testCertificate(): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'croft-certificate-'))
  const openssl = (request: string) =>
    promisify(execFile)('openssl', request.split(' '), { cwd: folder })
  try {
    await openssl(`${NEW_KEY} -keyout ca.key -out ca.pem -subj /CN=Authority`)
    await openssl(
      `${NEW_KEY} -CA ca.pem -CAkey ca.key -keyout key.pem -out cert.pem -subj /CN=localhost -addext basicConstraints=critical,CA:FALSE -addext subjectAltName=DNS:localhost,IP:127.0.0.1`,
    )
    const [key = '', cert = '', authority = ''] = await Promise.all(
      ['key.pem', 'cert.pem', 'ca.pem'].map((file) => readFile(join(folder, file), 'utf8')),
    )
    return { key, cert, authority }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
