import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'

import type { Clock } from '#base/clock.ts'
import { ifMissing } from '#base/error-code.ts'
import { createFileAtomically } from '#config/atomic-file.ts'
import type { MailConfig } from '#config/config.ts'
import { SetupError } from '#config/setup-error.ts'

import { selfSignedCertificate } from './self-signed-certificate.ts'

/** Beside the keys of the installation; key and certificate in one file, so that they always belong together. */
const OWN_FILE = 'smtp-tls.pem'

export interface TlsMaterial {
  readonly key: string
  readonly cert: string
}

/** The certificate that was configured, or one of our own, made at the first start. A `SetupError` says what is wrong with it. */
export async function readTlsMaterial(
  { smtpTls, smtpHostname }: MailConfig,
  dataDir: string,
  clock: Clock,
): Promise<TlsMaterial> {
  if (smtpTls === undefined) return ownMaterial(join(dataDir, OWN_FILE), smtpHostname, clock)
  const [cert, key] = await Promise.all([
    read(smtpTls.certFile, 'SMTP_TLS_CERT'),
    read(smtpTls.keyFile, 'SMTP_TLS_KEY'),
  ])
  return checked({ cert, key }, `${smtpTls.certFile} and ${smtpTls.keyFile}`)
}

async function ownMaterial(path: string, hostname: string, clock: Clock): Promise<TlsMaterial> {
  const kept = await readFile(path, 'utf8').catch(ifMissing(undefined))
  if (kept === undefined) {
    const { key, cert } = selfSignedCertificate(hostname, clock.now())
    await createFileAtomically(path, `${key}${cert}`)
  }
  const both = kept ?? (await readFile(path, 'utf8'))
  return checked({ key: both, cert: both }, path)
}

function checked(material: TlsMaterial, where: string): TlsMaterial {
  try {
    createSecureContext(material)
    return material
  } catch (error) {
    throw new SetupError(`${where}: no certificate with its key in PEM: ${String(error)}`)
  }
}

async function read(path: string, variable: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new SetupError(`${variable}: ${path} cannot be read: ${String(error)}`)
  }
}
