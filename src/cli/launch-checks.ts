import { type Static, Type } from '@sinclair/typebox'

import { MailFinding } from '#mail/verification/model.ts'
import { compareAddresses } from '#platform/dns/name-addresses.ts'

import {
  type LaunchStep,
  type LaunchTarget,
  hostOf,
  wrong,
  type MailDepth,
} from './launch-target.ts'
import { type SiteCallOptions, answerJson, at, sitePath } from './service-client.ts'

const SHOWN = 5

/** A million messages take the database seconds, and a page of long ones the disk. */
const PATIENCE_MS = 300_000

const Findings = Type.Object({ checked: Type.Integer(), findings: Type.Array(MailFinding) })
const FindingsPage = Type.Composite([
  Findings,
  Type.Object({ nextToken: Type.Union([Type.String(), Type.Null()]) }),
])

export interface LaunchCheck {
  readonly name: string
  readonly ok: boolean
  readonly detail: string
}

/** Each looks at the site from outside, as a browser would, and says what it saw or throws what is wrong. */
const STEPS: readonly LaunchStep[] = [
  ['bootstrap config', checkBootstrap],
  ['admin workflow', checkAdminWorkflow],
  ['admin routes without a token', checkNoToken],
  ['auth discovery', checkDiscovery],
  ['sign-in name', checkSignInName],
  ['auth methods', checkMethods],
  ['operation', checkOperation],
]

export async function runChecks(target: LaunchTarget): Promise<readonly LaunchCheck[]> {
  const checks: LaunchCheck[] = []
  for (const [name, step] of [...STEPS, ...mailSteps(target.mail)]) {
    checks.push(
      await step(target).then(
        (detail) => ({ name, ok: true, detail }),
        (error: unknown) => ({ name, ok: false, detail: reasonOf(error) }),
      ),
    )
  }
  return checks
}

async function checkBootstrap(target: LaunchTarget): Promise<string> {
  const { site } = target
  const path = '/admin/public/config'
  const config = await okJson(target, ['GET', path])
  expectEqual(`${path} siteId`, at(config, 'siteId'), site.siteId)
  expectEqual(`${path} siteDomain`, at(config, 'siteDomain'), site.domain)
  expectEqual(`${path} region`, at(config, 'region'), site.region)
  expectEqual(`${path} api.basePath`, at(config, 'api', 'basePath'), '/admin/api')
  for (const field of ['clientId', 'domain', 'redirectUri', 'logoutUri']) {
    if (typeof at(config, 'auth', field) !== 'string') throw wrong(`${path} lacks auth.${field}`)
  }
  return `${path} describes ${site.domain}`
}

/** Reads the control plane and runs a line of code in the sandbox; leaves nothing behind. */
async function checkAdminWorkflow(target: LaunchTarget): Promise<string> {
  const token = await adminToken(target)
  const resources = await adminResources(target, token)
  const path = '/admin/data/compute/execute'
  const body = {
    code: 'module.exports = async ({ payload }) => payload.sent + 1',
    payload: { sent: 41 },
    timeoutSeconds: 10,
  }
  const result = await okJson(target, ['POST', path], { token, body })
  expectEqual(`${path} data`, at(result, 'data'), 42)
  const count = at(resources, 'resources')
  return `${Array.isArray(count) ? count.length : 0} resources, and ad-hoc code runs`
}

async function checkNoToken(target: LaunchTarget): Promise<string> {
  await expectRefusal(target, '/admin/data/resources')
  return 'refused with 401'
}

async function checkDiscovery(target: LaunchTarget): Promise<string> {
  const [path, alias] = ['/data/auth/config', '/data/public/auth/config']
  const full = at(await okJson(target, ['GET', path]), 'data')
  const basic = at(await okJson(target, ['GET', alias]), 'data')
  for (const field of ['enabled', 'userPoolId', 'userPoolClientId', 'issuer', 'region']) {
    expectEqual(`${alias} ${field}`, at(basic, field), at(full, field))
  }
  const issuer = at(full, 'issuer')
  if (typeof issuer !== 'string' || !URL.canParse(issuer)) throw wrong(`${path} has no issuer`)
  const document = `${new URL(issuer).pathname}/.well-known/openid-configuration`
  const host = target.site.authDomain ?? target.site.domain
  expectEqual(`${path} issuer's host`, new URL(issuer).hostname, host)
  const published = await okJson(target, ['GET', document], { host })
  expectEqual(`${document} issuer`, at(published, 'issuer'), issuer)
  return `both agree on ${issuer}`
}

/** As this machine finds it: a proxy before the service needs the name, too. */
async function checkSignInName({ site }: LaunchTarget): Promise<string> {
  const { authDomain, domain } = site
  if (authDomain === null) return `visitors sign in on ${domain} itself`
  const place = await compareAddresses(authDomain, domain)
  if (place === 'nowhere')
    throw wrong(`${authDomain} does not resolve: give it the records of ${domain}`)
  if (place === 'elsewhere') throw wrong(`${authDomain} leads to other addresses than ${domain}`)
  return place === 'same'
    ? `${authDomain} leads where ${domain} does`
    : `${authDomain}, which was not compared: ${domain} does not resolve from here`
}

async function checkMethods(target: LaunchTarget): Promise<string> {
  const path = '/data/auth/methods'
  await expectRefusal(target, path)
  const token = await mintVisitor(target, undefined)
  const data = at(await okJson(target, ['GET', path], { token }), 'data')
  expectEqual(`${path} email`, at(data, 'email'), visitorOf(target.site.domain))
  for (const method of ['password', 'google']) {
    const enabled = at(data, 'methods', method, 'enabled')
    if (typeof enabled !== 'boolean') throw wrong(`${path} lacks methods.${method}.enabled`)
  }
  return `${path} tells a visitor how they sign in`
}

async function checkOperation(target: LaunchTarget): Promise<string> {
  const chosen = await chooseOperation(target)
  const path = chosen.open ? `/data/public/${chosen.name}` : `/data/${chosen.name}`
  const options: SiteCallOptions = {
    body: { payload: JSON.parse(target.payload) },
    ...(chosen.open ? {} : { token: await mintVisitor(target, chosen.groups) }),
  }
  if (chosen.http) return answersHttp(target, path, options)
  const answer = await okJson(target, ['POST', path], options)
  if (at(answer, 'ok') !== true) throw wrong(`${path} did not answer { ok: true }`)
  return `${path} answered ${JSON.stringify(at(answer, 'data')).slice(0, 100)}`
}

/** One that answers HTTP may refuse what is sent here, but does not fail. */
async function answersHttp(
  { service, site }: LaunchTarget,
  path: string,
  options: SiteCallOptions,
): Promise<string> {
  const { status } = await service.site(site.domain, 'POST', path, options)
  if (status >= 500) throw wrong(`${path} answered ${status}`)
  return `${path} answered ${status}`
}

interface ChosenOperation {
  readonly name: string
  /** Whether it answers HTTP itself. */
  readonly http: boolean
  readonly open: boolean
  /** The groups that may call it; undefined when it asks for none. */
  readonly groups: unknown
}

async function chooseOperation(target: LaunchTarget): Promise<ChosenOperation> {
  const listed = at(await adminResources(target, await adminToken(target)), 'operations')
  const operations = (Array.isArray(listed) ? listed : []).map((entry: unknown) => ({
    name: String(at(entry, 'operation')),
    http: at(entry, 'http') === true,
    mode: at(entry, 'auth', 'mode'),
    groups: at(entry, 'auth', 'groups'),
  }))
  const wanted = operations
    .filter(({ name }) => target.operation === undefined || name === target.operation)
    .sort((one, two) => Number(one.http) - Number(two.http))
  const best =
    wanted.find(({ mode }) => mode === 'public') ??
    wanted.find(({ mode }) => mode === 'authenticated') ??
    wanted[0]
  if (best) return { ...best, open: best.mode === 'public' }
  throw wrong(
    target.operation === undefined
      ? 'the site has no operation yet: deploy one'
      : `the site has no operation "${target.operation}"`,
  )
}

const adminResources = (target: LaunchTarget, token: string): Promise<unknown> =>
  okJson(target, ['GET', '/admin/data/resources'], { token })

function adminToken(target: LaunchTarget): Promise<string> {
  if (target.admin === undefined) throw wrong('the site has no super-admin: give --user EMAIL')
  return mint(target, { user: target.admin, pool: 'admin' })
}

/** Names the groups in the token only: it adds no member. */
const mintVisitor = (target: LaunchTarget, groups: unknown): Promise<string> =>
  mint(target, {
    user: visitorOf(target.site.domain),
    pool: 'data',
    ...(groups === undefined ? {} : { groups }),
  })

async function mint({ service, site }: LaunchTarget, body: object): Promise<string> {
  const minted = await service.portal('POST', sitePath(site.siteId, '/tokens'), { body })
  return String(at(minted, 'token'))
}

/** Adds a second label to `localhost`, which alone is no valid domain of an address. */
const visitorOf = (domain: string): string =>
  `launch-validation@${domain.includes('.') ? domain : `${domain}.test`}`

/** Calls the site and returns the JSON of its answer, which is to be a 200. */
async function okJson(
  target: LaunchTarget,
  [method, path]: readonly ['GET' | 'POST', string],
  { host = hostOf(target, path), ...options }: SiteCallOptions & { readonly host?: string } = {},
): Promise<unknown> {
  const answer = await target.service.site(host, method, path, options)
  const json = answerJson(answer)
  if (answer.status === 200) return json
  const [code, message] = [at(json, 'error', 'code'), at(json, 'error', 'message')]
  throw wrong(`${path} answered ${answer.status} ${[code, message].filter(Boolean).join(': ')}`)
}

async function expectRefusal(target: LaunchTarget, path: string): Promise<void> {
  const { status } = await target.service.site(hostOf(target, path), 'GET', path)
  if (status !== 401) throw wrong(`${path} without a token answered ${status}, not 401`)
}

function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (actual === expected) return
  throw wrong(`${what} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`)
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** Compares a site's stored mail with what is known of it, as deep as asked for. */
const mailSteps = (depth: MailDepth): readonly LaunchStep[] =>
  depth === 'rows'
    ? [['mail rows', checkRows]]
    : [
        ['mail rows', checkRows],
        ['mail messages', checkMessages],
        ['mail objects', checkObjects],
      ]

async function checkRows({ service, site }: LaunchTarget): Promise<string> {
  const path = sitePath(site.siteId, '/mail-verification/rows')
  const { checked, findings } = await service.portalAs(Findings, 'GET', path, {
    timeoutMs: PATIENCE_MS,
  })
  if (findings.length > 0) throw wrong(findingsText(findings))
  return `${counted(checked, 'mailbox', 'mailboxes')}, counted right`
}

async function checkMessages(target: LaunchTarget): Promise<string> {
  const isReading = target.mail === 'bytes'
  const { checked, findings } = await readAll(
    target,
    'messages',
    isReading ? { bytes: 'true' } : {},
  )
  if (findings.length > 0) throw wrong(findingsText(findings))
  const how = isReading ? 'every byte unchanged' : 'of unchanged length'
  return `${counted(checked, 'message', 'messages')}, ${how}`
}

/** Bytes of no message are no fault: a service that is killed in the middle leaves some. */
async function checkObjects(target: LaunchTarget): Promise<string> {
  const { checked, findings } = await readAll(target, 'objects', {})
  const objects = counted(checked, 'object', 'objects')
  return findings.length === 0
    ? objects
    : `${objects}; the next sweep removes what is no message’s: ${findingsText(findings)}`
}

async function readAll(
  { service, site, progress }: LaunchTarget,
  part: 'messages' | 'objects',
  query: Readonly<Record<string, string>>,
): Promise<Static<typeof Findings>> {
  const findings: MailFinding[] = []
  let checked = 0
  for (let next: string | null = ''; next !== null;) {
    const token = next === '' ? {} : { nextToken: next }
    const search: string = new URLSearchParams({ ...query, ...token }).toString()
    const path = sitePath(site.siteId, `/mail-verification/${part}?${search}`)
    const page: Static<typeof FindingsPage> = await service.portalAs(FindingsPage, 'GET', path, {
      timeoutMs: PATIENCE_MS,
    })
    checked += page.checked
    findings.push(...page.findings)
    next = page.nextToken
    if (next !== null) progress(`mail ${part}: ${checked} looked at…`)
  }
  return { checked, findings }
}

function findingsText(findings: readonly MailFinding[]): string {
  const shown = findings.slice(0, SHOWN).map(({ detail }) => detail)
  const more = findings.length - shown.length
  return [...shown, ...(more === 0 ? [] : [`and ${more} more`])].join('; ')
}

const counted = (count: number, one: string, several: string): string =>
  `${count} ${count === 1 ? one : several}`
