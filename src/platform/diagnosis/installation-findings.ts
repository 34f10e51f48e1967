import type { Clock } from '#base/clock.ts'
import { codeOf } from '#base/error-code.ts'
import type { Config } from '#config/config.ts'
import { exposedKeyFiles } from '#config/keys.ts'

import { type Finding, Findings, reasonOf } from './finding.ts'

const HOUR_MS = 3_600_000
/** A daily backup, and two hours for it. */
const OLD_HOURS = 26
/** Names that resolve to this machine only. */
const LOCAL = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$|\.(?:localhost|test)$/

export async function examineKeys(dataDir: string): Promise<readonly Finding[]> {
  const findings = new Findings('keys')
  for (const file of await exposedKeyFiles(dataDir)) {
    findings.problem(`others may read "${file}"`, `chmod 600 "${file}"`)
  }
  if (findings.all.length > 0) return findings.all
  return findings.ok(
    'no other user may read them; no backup has the master key: keep a copy of it elsewhere',
  ).all
}

export async function examineBackups(
  last: () => Promise<Date | undefined>,
  clock: Clock,
): Promise<readonly Finding[]> {
  const findings = new Findings('backup')
  try {
    return judgeBackup(findings, await last(), clock.now()).all
  } catch (error) {
    const why =
      codeOf(error) === 'ServiceUnavailable' ? 'the database does not answer' : reasonOf(error)
    return findings.warning(`when the last one was is not known: ${why}`, 'Ask again later').all
  }
}

export function judgeBackup(findings: Findings, last: Date | undefined, now: Date): Findings {
  if (last === undefined) {
    return findings.warning(
      'there is none',
      'Run "croft backup --to <place>" daily, by a timer or cron',
    )
  }
  const hours = Math.floor((now.getTime() - last.getTime()) / HOUR_MS)
  if (hours < OLD_HOURS) return findings.ok(`the last one has all up to ${hours} hours ago`)
  return findings.warning(
    `the last one is ${hours} hours old`,
    'See why whatever runs "croft backup" does not: all since then would be lost with the disk',
  )
}

/** How visitors reach the service. */
export function examineAddress({
  baseUrl,
  trustedProxies,
}: Pick<Config, 'baseUrl' | 'trustedProxies'>): readonly Finding[] {
  const findings = new Findings('address')
  const { protocol, hostname } = new URL(baseUrl)
  if (LOCAL.test(hostname)) return findings.ok(`${baseUrl} is for this machine alone`).all
  if (protocol === 'http:') {
    return findings.warning(
      `${baseUrl} is without TLS`,
      'Put a proxy with certificates before it, and set CROFT_BASE_URL=https://…: passwords and tokens can be read on their way',
    ).all
  }
  if (trustedProxies.length === 0) {
    return findings.warning(
      'TLS ends at a proxy, and no proxy is trusted',
      'Set CROFT_TRUSTED_PROXIES to its address: else all visitors count as one in rate limits and logs',
    ).all
  }
  return findings.ok(`${baseUrl}, behind ${trustedProxies.join(', ')}`).all
}
