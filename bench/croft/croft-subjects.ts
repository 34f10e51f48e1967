import {
  echoTenant,
  ITEM_IDS,
  itemOf,
  itemTenant,
  jobTenant,
  readJobSource,
} from '#bench/job-calls.ts'
import type { Tenant } from '#bench/load/load-plan.ts'
import { PAYLOAD_LENGTHS } from '#bench/payload-lengths.ts'
import type { IsWanted, Subject, SubjectName } from '#bench/subject.ts'
import type { ScriptServer } from '#bench/subjects/script-server.ts'

import type { CroftProcess } from './croft-process.ts'
import { CroftSite } from './croft-site.ts'

const JOB = '\nexport default ({ payload }: { payload: JobPayload }) => answer(payload)\n'
const ECHO = 'export default ({ payload }) => ({ text: payload.text })\n'
const TABLE_GET = `export default async ({ payload }, { table }) => {
  const { item } = await table('items').get({ key: { id: payload.id } })
  return item
}
`
const fetchOf = (origin: string): string => `export default async ({ payload }) => {
  const found = await fetch('${origin}/item/' + payload.id)
  return found.json()
}
`
const CACHE_SECONDS = 3600
const FEW_SITES = 10
const MANY_SITES = 100
/** Sites that are made at once. */
const BUILDERS = 4

/** The workloads as operations of one site and of many; each call with a visitor's token. */
export async function croftSubjects(croft: CroftProcess, isWanted: IsWanted): Promise<Subject[]> {
  const sites = await makeSites(croft, sitesFor(isWanted))
  const [first] = sites
  if (first === undefined) return []
  await makeEcho(first, isWanted)
  await makeTable(first, isWanted)
  const subject = (name: SubjectName, tenants: readonly Tenant[]): Subject => ({
    name,
    origin: croft.origin,
    pid: croft.pid,
    tenants,
  })
  const warm = (count: number): Tenant[] =>
    sites.slice(0, count).map((site) => jobTenant(targetOf(site, 'warm')))
  const echo = targetOf(first, 'echo')
  return [
    subject('cached', [jobTenant(targetOf(first, 'cached'))]),
    subject('warm', warm(1)),
    subject('warm-10-sites', warm(FEW_SITES)),
    subject('warm-100-sites', warm(MANY_SITES)),
    subject('warm-20kb', [echoTenant(echo, PAYLOAD_LENGTHS['20kb'])]),
    subject('warm-1mb', [echoTenant(echo, PAYLOAD_LENGTHS['1mb'])]),
    subject('table-get', [itemTenant(targetOf(first, 'lookup'))]),
  ].filter(({ name }) => isWanted(name))
}

/** On an installation whose functions may fetch from this machine. */
export async function fetchSubject(croft: CroftProcess, items: ScriptServer): Promise<Subject> {
  const site = await CroftSite.create(croft, 'fetch.test')
  const resourceId = await site.createFunction('item', fetchOf(items.origin))
  await site.createOperation('item', resourceId, 0)
  await site.answering('item', { id: ITEM_IDS[0] })
  return {
    name: 'fetch',
    origin: croft.origin,
    pid: croft.pid,
    tenants: [itemTenant(targetOf(site, 'item'))],
  }
}

const sitesFor = (isWanted: IsWanted): number => {
  if (isWanted('warm-100-sites')) return MANY_SITES
  return isWanted('warm-10-sites') ? FEW_SITES : 1
}

const targetOf = ({ domain, visitorToken }: CroftSite, operation: string) => ({
  host: domain,
  path: `/data/${operation}`,
  token: visitorToken,
})

async function makeSites(croft: CroftProcess, count: number): Promise<CroftSite[]> {
  const code = (await readJobSource()) + JOB
  const sites: CroftSite[] = []
  const numbers = Array.from({ length: count }, (_, at) => at).values()
  const build = async (): Promise<void> => {
    for (const at of numbers) sites[at] = await makeSite(croft, `bench-${at + 1}.test`, code)
  }
  await Promise.all(Array.from({ length: BUILDERS }, build))
  return sites
}

async function makeSite(croft: CroftProcess, domain: string, code: string): Promise<CroftSite> {
  const site = await CroftSite.create(croft, domain)
  const resourceId = await site.createFunction('job', code)
  await site.createOperation('warm', resourceId, 0)
  await site.createOperation('cached', resourceId, CACHE_SECONDS)
  await site.answering('warm', { name: 'Ada', n: 1 })
  await site.answering('cached', { name: 'Ada', n: 1 })
  return site
}

async function makeEcho(site: CroftSite, isWanted: IsWanted): Promise<void> {
  if (!isWanted('warm-20kb', 'warm-1mb')) return
  await site.createOperation('echo', await site.createFunction('echo', ECHO), 0)
  await site.answering('echo', { text: '' })
}

async function makeTable(site: CroftSite, isWanted: IsWanted): Promise<void> {
  if (!isWanted('table-get')) return
  const tableId = await site.createTable('items', 'id')
  for (const id of ITEM_IDS) await site.putItem(tableId, itemOf(id))
  const grants = [{ resourceId: tableId, access: 'read' }] as const
  const resourceId = await site.createFunction('lookup', TABLE_GET, grants)
  await site.createOperation('lookup', resourceId, 0)
  await site.answering('lookup', { id: ITEM_IDS[0] })
}
