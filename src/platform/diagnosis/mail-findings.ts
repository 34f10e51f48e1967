import { X509Certificate } from 'node:crypto'

import type { Clock } from '#base/clock.ts'
import type { Config } from '#config/config.ts'
import { readTlsMaterial } from '#platform/smtp-server/tls-material.ts'
import type { MailTransport } from '#platform/smtp/mail-transport.ts'

import { type Finding, Findings, millisecondsSince, reasonOf } from './finding.ts'

const DAY_MS = 86_400_000
/** Certificates are renewed thirty days before their end. */
const SOON_DAYS = 14

/** Signs in at the gateway that mail leaves by, and sends nothing. */
export async function examineGateway(
  transport: Pick<MailTransport, 'delivers' | 'verify'>,
): Promise<readonly Finding[]> {
  const findings = new Findings('gateway')
  if (!transport.delivers) {
    return findings.warning(
      'mail to other servers is kept here and not delivered',
      'Set SMTP_URL to a mail server that delivers it; "croft outbox" shows what is kept',
    ).all
  }
  const beganMs = performance.now()
  try {
    await transport.verify()
    return findings.ok(`takes mail from us, and said so in ${millisecondsSince(beganMs)}`).all
  } catch (error) {
    return findings.problem(
      `does not take mail from us: ${reasonOf(error)}`,
      'Check SMTP_URL; what is to be sent waits, and is tried again',
    ).all
  }
}

/** The certificate that other mail servers and mail programs are shown. */
export async function examineCertificate(
  { roles, mail, dataDir }: Pick<Config, 'roles' | 'mail' | 'dataDir'>,
  clock: Clock,
): Promise<readonly Finding[]> {
  if (!roles.includes('mail')) return []
  const findings = new Findings('certificate')
  if (mail.smtpTls === undefined) {
    return findings.warning(
      'mail servers and mail programs are shown one that the service made itself',
      `Set SMTP_TLS_CERT and SMTP_TLS_KEY to one for ${mail.smtpHostname}: mail programs refuse this one`,
    ).all
  }
  try {
    const { cert } = await readTlsMaterial(mail, dataDir, clock)
    const ends = new Date(new X509Certificate(cert).validTo)
    return judgeEnd(findings, mail.smtpTls.certFile, ends, clock.now()).all
  } catch (error) {
    return findings.problem(reasonOf(error), 'Give the service a certificate with its key in PEM')
      .all
  }
}

export function judgeEnd(findings: Findings, file: string, ends: Date, now: Date): Findings {
  const days = Math.floor((ends.getTime() - now.getTime()) / DAY_MS)
  const advice = `Renew "${file}": it is read again when it changes`
  if (days < 0) return findings.problem(`it has expired at ${ends.toISOString()}`, advice)
  if (days < SOON_DAYS) return findings.warning(`it expires in ${days} days`, advice)
  return findings.ok(`it is good for ${days} days`)
}
