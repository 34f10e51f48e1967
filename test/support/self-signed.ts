import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

export interface Certificate {
  readonly key: string
  readonly cert: string
}

const REQUEST =
  'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout - -out - -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1'

/** Of nobody's authority, for `localhost` and 127.0.0.1. */
export async function selfSigned(): Promise<Certificate> {
  const { stdout } = await promisify(execFile)('openssl', REQUEST.split(' '))
  const cut = stdout.indexOf('-----BEGIN CERTIFICATE-----')
  return { key: stdout.slice(0, cut), cert: stdout.slice(cut) }
}
