import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

import { startChild } from '#bench/child-process.ts'
import { startCroft } from '#bench/croft/croft-process.ts'
import { jsonCall } from '#bench/http-call.ts'
import { median } from '#bench/median.ts'

import { Browser, type Pool, hiddenFields, signIn } from './browser.ts'

const ROUNDS = 3
const ROUND_MS = 5000
const AT_ONCE = 16
/** Burst in which the event loop is watched. */
const BURST = 50
const DOMAIN = 'sign-ins.test'
const USERS = Array.from({ length: 25 }, (_, index) => ({
  email: `user-${index}@${DOMAIN}`,
  password: `Correct-horse-${index}`,
}))
const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

interface Bootstrap {
  readonly auth: {
    readonly issuer: string
    readonly clientId: string
    readonly redirectUri: string
  }
}

type Croft = Awaited<ReturnType<typeof startCroft>>

async function preparedPool(croft: Croft): Promise<Pool> {
  const admins = USERS.flatMap(({ email }) => ['--super-admin', email])
  const created = await croft.command<{ onboarding: { email: string; url: string }[] }>(
    'site',
    'create',
    '--domain',
    DOMAIN,
    ...admins,
  )
  for (const [index, { url }] of created.onboarding.entries()) {
    const { pathname, search, searchParams } = new URL(url)
    const password = USERS.find(({ email }) => email === created.onboarding[index]?.email)?.password
    const browser = new Browser({ origin: croft.origin, host: DOMAIN })
    const page = await browser.get(`${pathname}${search}`)
    const taken = await browser.post(pathname, {
      ...hiddenFields(page.body),
      token: searchParams.get('token') ?? '',
      password: password ?? '',
      confirmPassword: password ?? '',
    })
    if (taken.status !== 200) throw new Error(`onboarding answered ${taken.status}: ${taken.body}`)
  }
  const { auth } = await jsonCall<Bootstrap>({
    origin: croft.origin,
    host: DOMAIN,
    method: 'GET',
    path: '/admin/public/config',
  })
  const { clientId, redirectUri } = auth
  return {
    origin: croft.origin,
    host: DOMAIN,
    path: new URL(auth.issuer).pathname,
    clientId,
    redirectUri,
  }
}

/** Verifications a second, with the machine to itself. */
async function hashLimit(): Promise<number> {
  await using child = startChild('bun', [script('hash-limit.ts'), String(ROUND_MS)])
  return Number(await child.line((line) => /^verified ([\d.]+)$/.exec(line)?.[1]))
}

/** Whole sign-ins a second, closed loop. */
async function signInRate(pool: Pool): Promise<number> {
  const startedAt = performance.now()
  const endsAt = startedAt + ROUND_MS
  let done = 0
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, lane) => {
      for (let turn = lane; performance.now() < endsAt; turn += AT_ONCE) {
        const user = USERS[turn % USERS.length]
        if (user) await signIn(pool, user)
        done += 1
      }
    }),
  )
  return (done / (performance.now() - startedAt)) * 1000
}

/** The worst lag of the service's event loop while many sign in at the same moment, in ms. */
async function burstLag(croft: Croft, pool: Pool): Promise<number> {
  await croft.ask('lag', /^lag ([\d.]+)$/)
  await Promise.all(
    Array.from({ length: BURST }, async (_, index) => {
      const user = USERS[index % USERS.length]
      if (user) await signIn(pool, user)
    }),
  )
  return Number(await croft.ask('lag', /^lag ([\d.]+)$/))
}

async function main(): Promise<void> {
  await using croft = await startCroft(['bun', script('serve-with-lag.ts')])
  const pool = await preparedPool(croft)
  await signInRate(pool)
  const rounds: { limit: number; rate: number; lagMs: number }[] = []
  for (let round = 1; round <= ROUNDS; round += 1) {
    process.stderr.write(`round ${round} of ${ROUNDS}\n`)
    rounds.push({
      limit: await hashLimit(),
      rate: await signInRate(pool),
      lagMs: await burstLag(croft, pool),
    })
  }
  const table = rounds.map(
    ({ limit, rate, lagMs }) =>
      `${limit.toFixed(0).padStart(13)}  ${rate.toFixed(0).padStart(10)}  ${(rate / limit).toFixed(2).padStart(5)}  ${lagMs.toFixed(1).padStart(10)}`,
  )
  const ratio = median(rounds.map(({ limit, rate }) => rate / limit))
  const worstMs = Math.max(...rounds.map(({ lagMs }) => lagMs))
  const text = [
    'argon2id / s  sign-ins / s  ratio  worst lag, ms',
    ...table,
    '',
    `median ratio ${ratio.toFixed(2)}; worst event loop lag in a burst of ${BURST} sign-ins ${worstMs.toFixed(1)} ms (at most 20): ${worstMs <= 20 ? 'PASS' : 'MISS'}`,
  ].join('\n')
  process.stdout.write(`${text}\n`)
  await writeFile(new URL('../SIGN-INS.md', import.meta.url), resultsFile(text))
}

const resultsFile = (table: string): string => `# Results of \`npm run bench:sign-ins\`

${new Date().toISOString().slice(0, 10)}, ${availableParallelism()} cores.

A sign-in is four requests: page, form (one argon2id verification), code, tokens (two RS256 signatures), in a browser without cookies; ${AT_ONCE} at once for ${ROUND_MS / 1000} s.
argon2id is the same verification (19 MiB, 2 passes) with the machine to itself, on as many threads as there are cores. The lag is that of a 5 ms timer inside the service while ${BURST} people sign in at the same moment. The load generator runs on the same cores.

\`\`\`text
${table}
\`\`\`
`

await main()
