import { parseArgs } from 'node:util'

import { type CroftProcess, startCroft } from '#bench/croft/croft-process.ts'
import { columns } from '#bench/load/load-table.ts'
import { quantile } from '#bench/median.ts'
import { DnsServer } from '#test/dns-server.ts'

import { type Case, FLOOD, Installation, QUIET } from './turns/installation.ts'
import { MAILBOXES, MAIL_CASES } from './turns/mail-cases.ts'
import { SITE_CASES } from './turns/site-cases.ts'
import { SlowGateway } from './turns/slow-gateway.ts'

const CASES = [...MAIL_CASES, ...SITE_CASES]
const USAGE = `npm run load:turns -- [--program FILE] [--singles N] [--only NAME,…]

Measures what a job of a quiet site takes, alone and while another site floods the queue that they share: p50, p99, and the
ratio of the p99. --only names some of ${CASES.map(({ name }) => name).join(', ')}. --program
names the bin/croft.js of another checkout. Exit code 1 when a p99 is more than twice that of the time alone.`

/** What the gateway takes to answer the end of a message, and RCPT for a domain that is slow. */
const GATEWAY_MS = 50
const SLOW_RCPT_MS = 20_000
const MAX_RATIO = 2

async function start(
  program: string | undefined,
  { gateway, dns }: { readonly gateway: SlowGateway; readonly dns: DnsServer },
): Promise<CroftProcess> {
  const command = program === undefined ? undefined : [process.execPath, program, 'serve']
  const UNLIMITED = '1000000000'
  return startCroft(command, {
    // No domain has records here. The machine's name servers would add their own delays.
    CROFT_DNS_SERVERS: dns.address,
    SMTP_URL: gateway.url,
    SMTP_MESSAGES_PER_MINUTE_PER_NETWORK: UNLIMITED,
    SMTP_MESSAGES_PER_MINUTE_PER_SITE: UNLIMITED,
  })
}

/** A fresh installation for each: what one flood leaves is none of the next one's. */
async function measure(
  { flood, single }: Case,
  { program, singles }: { readonly program: string | undefined; readonly singles: number },
): Promise<{ readonly alone: number[]; readonly beside: number[] }> {
  await using dns = await DnsServer.start(() => undefined)
  await using gateway = await SlowGateway.start({
    messageMs: GATEWAY_MS,
    recipientMs: (line) => (line.includes('@slow-') ? SLOW_RCPT_MS : 0),
  })
  await using croft = await start(program, { gateway, dns })
  for (const domain of [FLOOD, QUIET]) {
    const owner = `ann@${domain}`
    await croft.command('site', 'create', '--domain', domain, '--super-admin', owner)
    const boxes = Array.from({ length: MAILBOXES }, (_, at) => `box${at}`)
    for (const box of ['info', ...boxes]) {
      await croft.command('mailbox', 'create', `${box}@${domain}`, '--owner', owner)
    }
  }
  const installation = new Installation(croft, gateway)
  const times = async (from: number): Promise<number[]> => {
    const took: number[] = []
    for (let at = from; at < from + singles; at += 1) {
      const begun = performance.now()
      await single(installation, at)
      took.push(performance.now() - begun)
    }
    return took
  }
  await single(installation, 0)
  const alone = await times(1)
  const end = await flood(installation)
  const beside = await times(1 + singles)
  await end()
  return { alone, beside }
}

async function main(options: {
  readonly program: string | undefined
  readonly singles: number
  readonly only: string | undefined
}): Promise<void> {
  const names = options.only?.split(',')
  const rows = [['queue', 'p50 alone', 'p99', 'p50 beside', 'p99', 'ratio']]
  for (const each of CASES.filter(({ name }) => names?.includes(name) ?? true)) {
    const { alone, beside } = await measure(each, options)
    const ratio = quantile(beside, 0.99) / quantile(alone, 0.99)
    if (ratio > MAX_RATIO) process.exitCode = 1
    const ms = [alone, beside].flatMap((took) => [quantile(took, 0.5), quantile(took, 0.99)])
    rows.push([each.name, ...ms.map((each) => each.toFixed(0)), ratio.toFixed(2)])
    console.log(rows.at(-1)?.join('  '))
  }
  console.log(columns(rows))
}

const { values } = parseArgs({
  options: {
    program: { type: 'string' },
    singles: { type: 'string', default: '20' },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (values.help) console.log(USAGE)
else
  await main({
    ...values,
    program: values.program,
    only: values.only,
    singles: Number(values.singles),
  })
