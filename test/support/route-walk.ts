import { Agent, type IncomingMessage } from 'node:http'

import type { RouteDeclaration } from '#http/route-declaration.ts'

import { open } from './http-client.ts'
import { routeRows } from './route-table.ts'

/** Who calls a route, and what they send. */
export interface Caller {
  readonly name: string
  /** Of the `Authorization` header. */
  readonly secret: string | undefined
  /** The `Cookie` header of a new session at the hosted sign-in of the caller's pool. */
  readonly cookie?: () => Promise<string>
}

/** One route, and what it responds to each caller, by the caller's name. */
export interface WalkedRoute {
  readonly route: string
  readonly cells: Readonly<Record<string, string>>
}

/** A site with its callers. */
export interface CalledSite {
  readonly host: string
  readonly callers: readonly Caller[]
  /** What goes into the paths, by the parameter's name; `absent` for every other. */
  readonly names: Readonly<Record<string, string>>
}

export interface Walk {
  readonly port: number
  readonly routes: readonly RouteDeclaration[]
  /** The site on which a route is called, by the route's name. */
  readonly siteFor: (route: string) => CalledSite | Promise<CalledSite>
}

interface Declared {
  readonly route: string
  readonly declaration: RouteDeclaration
}

/** The method with which a route is called that serves all of them. */
const ANY_METHOD = 'PATCH'
const BODILESS = new Set(['GET', 'HEAD', 'OPTIONS'])
/** The smallest body of each kind that a route declares. */
const BODIES: Readonly<Record<string, { readonly type: string; readonly body: string }>> = {
  json: { type: 'application/json', body: '{}' },
  'optional-json': { type: 'application/json', body: '{}' },
  form: { type: 'application/x-www-form-urlencoded', body: '' },
  text: { type: 'application/x-amz-json-1.1', body: '{}' },
  upload: { type: 'application/octet-stream', body: '' },
}
/** What a cell shows as the status alone. */
export const PLAIN_CODES: Readonly<Record<number, string>> = {
  400: 'ValidationError',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'RouteNotFound',
  405: 'MethodNotAllowed',
}
/** What a cell shows as the code of a response that has none. */
export const NO_CODE = '–'
/** Where an error says its code: in JSON, on a page, and to git. */
const CODES = [
  /"(?:code|error|__type)":"(\w+)"/,
  /class="reference">\s*<span>[^<]*: (\w+)<\/span>/,
  /^(\w+): /,
]

/** Calls every route as every caller, one call after the other. */
export async function walk({ port, routes, siteFor }: Walk): Promise<WalkedRoute[]> {
  using agent = Object.assign(new Agent({ keepAlive: true }), {
    [Symbol.dispose](this: Agent) {
      this.destroy()
    },
  })
  const declarations = new Map(routes.map((route) => [nameOf(route), route]))
  const walked: WalkedRoute[] = []
  let calls = 0
  for (const { name: route } of routeRows(routes)) {
    const declaration = declarations.get(route)
    if (!declaration) throw new Error(`No declaration of ${route}`)
    const site = await siteFor(route)
    const cells: Record<string, string> = {}
    for (const caller of site.callers) {
      const { headers, ...request } = await requestOf({ route, declaration }, caller, site)
      calls += 1
      const from = { 'x-forwarded-for': addressOf(calls) }
      cells[caller.name] = await cellOf(
        await open({ port, agent, ...request, headers: { ...headers, ...from } }),
      )
    }
    walked.push({ route, cells })
  }
  return walked
}

const nameOf = ({ method, path }: RouteDeclaration): string =>
  `${method} ${path.replace(/(?<=.)\/$/, '')}`

async function requestOf({ route, declaration }: Declared, caller: Caller, site: CalledSite) {
  const { method, detail } = declaration
  const [, template = ''] = route.split(' ')
  const content = BODILESS.has(method) ? undefined : BODIES[kindOf(detail['x-request-body'])]
  return {
    method: method === 'ALL' ? ANY_METHOD : method,
    host: template.startsWith('/portal/') ? 'localhost' : site.host,
    path: pathOf(template, site.names),
    ...(content && { body: content.body }),
    headers: {
      ...(content && { 'content-type': content.type }),
      ...credentialOf(caller, detail['x-authority']),
      ...(template.startsWith('/oidc/') && caller.cookie && { cookie: await caller.cookie() }),
    },
  }
}

const kindOf = (body: unknown): string =>
  typeof body === 'object' && body !== null && 'kind' in body ? String(body.kind) : ''

const pathOf = (template: string, names: CalledSite['names']): string =>
  template
    .replaceAll(/:(\w+)/g, (_all, name: string) => encodeURIComponent(names[name] ?? 'absent'))
    .replace('*', 'absent')

function credentialOf({ secret }: Caller, authority: unknown): Record<string, string> {
  if (secret === undefined) return {}
  if (authority !== 'repository') return { authorization: `Bearer ${secret}` }
  return { authorization: `Basic ${Buffer.from(`git:${secret}`).toString('base64')}` }
}

/** Limits on strangers are by network: each call comes from another one. */
const addressOf = (call: number): string =>
  `10.${(call >> 16) & 255}.${(call >> 8) & 255}.${call & 255}`

/** The status, and the error's code unless it is the plain one: `404 Mailbox` is `MailboxNotFound`. Ends a stream at its head. */
async function cellOf(response: IncomingMessage): Promise<string> {
  const { statusCode: status = 0, headers } = response
  if (headers['content-type']?.startsWith('text/event-stream')) {
    response.destroy()
    return String(status)
  }
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  if (status < 400) return String(status)
  const text = Buffer.concat(chunks).toString()
  const code = CODES.map((pattern) => pattern.exec(text)?.[1]).find((found) => found !== undefined)
  if (code !== undefined && code === PLAIN_CODES[status]) return String(status)
  return `${status} ${code?.replace(/(?<=.)NotFound$/, '') ?? NO_CODE}`
}
