import type { ErrorCode } from '#base/error-status.ts'
import type { OpenApiDocument, OperationObject } from '#http/openapi/document.ts'
import type { JsonSchema } from '#http/openapi/json-schema.ts'
import { adminDocument, portalDocument } from '#http/openapi/routes.ts'
import { routeDeclarations } from '#http/route-declaration.ts'
import { routes } from '#http/routes.ts'
import { declaringContext } from '#scripts/declaring-context.ts'
import { headingId } from '#scripts/docs/heading-ids.ts'

import { fieldsOf, schemaText } from './schema-text.ts'

interface RoutePage {
  readonly file: string
  readonly title: string
  readonly of: 'admin' | 'portal'
  /** None: what no other page has. */
  readonly tags?: readonly string[]
}

const OPERATOR = 'http-operator.md'
const PAGES: readonly RoutePage[] = [
  {
    file: 'http-mailboxes.md',
    title: 'HTTP API: mailboxes and aliases',
    of: 'admin',
    tags: ['mailboxes', 'aliases', 'contact-recipients', 'mail-suppressions'],
  },
  {
    file: 'http-messages.md',
    title: 'HTTP API: messages, contact form and forwarding',
    of: 'admin',
    tags: ['messages', 'contact', 'forwarding'],
  },
  {
    file: 'http-admins.md',
    title: 'HTTP API: admins and their accounts',
    of: 'admin',
    tags: ['users', 'super-admin-invites', 'onboarding', 'profile', 'address'],
  },
  {
    file: 'http-visitors.md',
    title: 'HTTP API: visitors and groups',
    of: 'admin',
    tags: ['visitors', 'groups'],
  },
  {
    file: 'http-resources.md',
    title: 'HTTP API: tables, buckets and functions',
    of: 'admin',
    tags: ['resources', 'compute'],
  },
  {
    file: 'http-operations.md',
    title: 'HTTP API: operations, jobs, variables and logs',
    of: 'admin',
    tags: ['operations', 'jobs', 'env-vars', 'logs', 'usage', 'reconcile'],
  },
  { file: 'http-site.md', title: 'HTTP API: definitions and settings of a site', of: 'admin' },
  {
    file: 'http-operator-people.md',
    title: 'HTTP API: people, for the operator',
    of: 'portal',
    tags: [
      'admin-users',
      'auth',
      'clients',
      'second-factor',
      'sessions',
      'tokens',
      'keys',
      'audit',
    ],
  },
  {
    file: 'http-operator-mail.md',
    title: 'HTTP API: mail, for the operator',
    of: 'portal',
    tags: ['outbox', 'dkim', 'failed-mail', 'mail-reparse', 'mail-verification', 'mailbox-reports'],
  },
  { file: OPERATOR, title: 'HTTP API: the operator', of: 'portal' },
]

const HEADINGS: Readonly<Record<string, string>> = {
  auth: 'Sign-in',
  dkim: 'DKIM',
  dns: 'DNS',
  'env-vars': 'Environment variables',
  iac: 'Definitions',
  'openapi.json': 'OpenAPI',
}

const PAGING: ReadonlySet<string> = new Set(['limit', 'nextToken'])
const INTRO =
  'Written from the declarations of the routes; [HTTP API](http-api.md) says what all of them have in common. Errors are in [error codes](errors.md).'

interface Placed {
  readonly method: string
  readonly path: string
  readonly operation: OperationObject
}

/** The pages of the routes of `/admin` and `/portal`, from their OpenAPI documents, by file. */
export function routePages(): ReadonlyMap<string, string> {
  const declared = routeDeclarations(routes(declaringContext()))
  const documents = { admin: adminDocument(declared, ''), portal: portalDocument(declared, '') }
  const placed = { admin: placedIn(documents.admin), portal: placedIn(documents.portal) }
  const admins = new Map(placed.admin.map((each) => [each.operation.operationId, each]))
  const isShared = ({ operation }: Placed) => admins.has(operation.operationId)
  const pages = PAGES.map((page) => {
    const own = placed[page.of].filter(
      (each) => pageOf(each, page.of) === page && (page.of === 'admin' || !isShared(each)),
    )
    const shared = page.file === OPERATOR ? sharedText(placed.portal, admins) : ''
    const sections = sectionsOf(own)
    const schemas = schemasText(sections, documents[page.of])
    return [page.file, `# ${page.title}\n\n${INTRO}\n\n${shared}${sections}${schemas}`] as const
  })
  return new Map(pages)
}

const placedIn = ({ paths }: OpenApiDocument): readonly Placed[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )

function pageOf({ operation: { tags } }: Placed, of: RoutePage['of']): RoutePage | undefined {
  const [tag = ''] = tags
  const pages = PAGES.filter((page) => page.of === of)
  return pages.find((page) => page.tags?.includes(tag)) ?? pages.find((page) => !page.tags)
}

/** What admins of a site have as well is a line, with a link to it. */
function sharedText(portal: readonly Placed[], admins: ReadonlyMap<string, Placed>): string {
  const lines = portal.flatMap((each) => {
    const twin = admins.get(each.operation.operationId)
    if (twin === undefined) return []
    const target = `${pageOf(twin, 'admin')?.file ?? ''}#${anchorOf(twin)}`
    return [`- \`${each.method} ${each.path}\`: [${each.operation.summary ?? ''}](${target})`]
  })
  return `## Routes that admins have too\n\nThey take and return the same as the routes of \`/admin\` that they lead to.\n\n${lines.join('\n')}\n\n`
}

function sectionsOf(placed: readonly Placed[]): string {
  const tags = [...new Set(placed.map(({ operation }) => operation.tags[0] ?? ''))]
  return tags
    .map((tag) => {
      const own = placed.filter(({ operation }) => operation.tags[0] === tag)
      return `## ${headingOf(tag)}\n\n${own.map(routeText).join('\n')}`
    })
    .join('\n')
}

const headingOf = (tag: string): string => {
  const words = HEADINGS[tag] ?? tag.replaceAll('-', ' ')
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}

const anchorOf = ({ method, path }: Pick<Placed, 'method' | 'path'>): string =>
  headingId(`${method} ${path}`)

function routeText({ method, path, operation }: Placed): string {
  const { summary = '', description } = operation
  const about = description === undefined ? '' : ` ${description.replaceAll(/\s+/g, ' ')}`
  const lines = [
    ...parameterLines(operation),
    ...bodyLines(operation),
    ...responseLines(operation),
    ...errorLines(operation),
  ]
  return `### ${method} ${path}\n\n${summary}. ${callersText(operation)}${about}\n\n${lines.join('\n')}\n`
}

function callersText(operation: OperationObject): string {
  const { security } = operation
  const [role, scopes, events] = [
    operation['x-required-role'],
    operation['x-deploy-token-scopes'],
    operation['x-audit-events'],
  ]
  const callers =
    typeof role === 'string'
      ? `Role \`${role}\`.`
      : Array.isArray(scopes)
        ? `Operator, or a deploy token with ${scopes.map((scope) => `\`${String(scope)}\``).join(' or ')}.`
        : security.length === 0
          ? 'No token.'
          : 'Operator.'
  const audit = Array.isArray(events)
    ? ` Audit: ${events.map((event) => `\`${String(event)}\``).join(', ')}.`
    : ''
  return callers + audit
}

/** Nothing of names in the path of which the document says no more, and one line for the two of a list. */
function parameterLines({ parameters = [] }: OperationObject): string[] {
  const isPaged = parameters.some(({ name }) => name === 'nextToken')
  const shown = parameters.filter(
    (parameter) =>
      !(isPaged && PAGING.has(parameter.name)) &&
      (parameter.in !== 'path' || parameter.description !== undefined),
  )
  const lines = shown.map(
    (parameter) =>
      `- ${parameter.in} ${fieldText({ ...parameter, isRequired: parameter.required && parameter.in !== 'path' })}`,
  )
  return isPaged
    ? [...lines, '- query `limit`, `nextToken`: [a page of the list](http-api.md)']
    : lines
}

function bodyLines({ requestBody }: OperationObject): string[] {
  const [type, schema] = mediaOf(requestBody?.content)
  if (requestBody === undefined || type === undefined) return []
  const bound = requestBody.description?.replace(/^At/, 'at').replace(/\.$/, '') ?? ''
  const fields = fieldsOf(schema)
  const intro = `- body, ${type === 'application/json' ? '' : `${type}, `}${bound}`
  if (fields.length === 0) return [`${intro}: ${schemaText(schema)}`]
  return [`${intro}:`, ...fields.map((field) => `  - ${fieldText(field)}`)]
}

/** What any request with a wrong caller, site, body or parameter gets: the page of the API explains these once. */
const GENERAL_ERRORS: ReadonlySet<string> = new Set<ErrorCode>([
  'Unauthorized',
  'TokenExpired',
  'Forbidden',
  'RecentSignInRequired',
  'SiteNotFound',
  'MisdirectedRequest',
  'ValidationError',
  'InvalidNextToken',
  'InvalidJson',
  'InvalidContentEncoding',
  'UnsupportedMediaType',
  'PayloadTooLarge',
])

/** The errors of its own, of all statuses. */
function errorLines({ responses }: OperationObject): string[] {
  const codes = Object.entries(responses)
    .filter(([status]) => /^[45]/.test(status))
    .flatMap(([, { description }]) => [...description.matchAll(/`(\w+)`/g)])
    .map(([, code = '']) => code)
    .filter((code) => !GENERAL_ERRORS.has(code))
  return codes.length === 0 ? [] : [`- errors: ${codes.map((code) => `\`${code}\``).join(', ')}`]
}

function responseLines({ responses }: OperationObject): string[] {
  return Object.entries(responses)
    .filter(([status]) => /^[23]/.test(status))
    .map(([status, { content, description }]) => {
      const [type, schema] = mediaOf(content)
      if (type === undefined) return status === '204' ? '- 204' : `- ${status}: ${description}`
      return type === 'application/json'
        ? `- ${status}: ${schemaText(schema)}`
        : `- ${status}: ${type}`
    })
}

function mediaOf(
  content: Readonly<Record<string, { readonly schema: JsonSchema }>> | undefined,
): readonly [string | undefined, JsonSchema] {
  const [first] = Object.entries(content ?? {})
  return first === undefined ? [undefined, {}] : [first[0], first[1].schema]
}

interface FieldLine {
  readonly name: string
  readonly schema: JsonSchema
  readonly isRequired: boolean
  readonly description?: string
}

function fieldText({ name, schema, isRequired, description }: FieldLine): string {
  const { description: own } = schema
  const about = description ?? (typeof own === 'string' ? own : undefined)
  const text = `\`${name}\`${isRequired ? ' (required)' : ''}: ${schemaText(schema)}`
  return about === undefined ? text : `${text}. ${about}`
}

/** The named schemas that a page links to, and those that these link to. */
function schemasText(text: string, { components }: OpenApiDocument): string {
  const shown = new Map<string, string>()
  const linked = (from: string) => [...from.matchAll(/\]\(#(\w+)\)/g)].map(([, name = '']) => name)
  const byAnchor = new Map(
    Object.entries(components.schemas).map(([name, schema]) => [
      name.toLowerCase(),
      { name, schema },
    ]),
  )
  const add = (from: string): void => {
    for (const anchor of linked(from)) {
      const found = byAnchor.get(anchor)
      if (found === undefined || shown.has(anchor)) continue
      const lines = schemaLines(found.schema)
      shown.set(anchor, `### ${found.name}\n\n${lines}`)
      add(lines)
    }
  }
  add(text)
  if (shown.size === 0) return ''
  const sections = [...shown].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each)
  return `\n## Schemas\n\n${sections.join('\n')}`
}

function schemaLines(schema: JsonSchema): string {
  const fields = fieldsOf(schema)
  if (fields.length === 0) return `${schemaText(schema)}\n`
  return `${fields
    .map(
      ({ isRequired, ...field }) =>
        `- ${fieldText({ ...field, name: isRequired ? field.name : `${field.name}?`, isRequired: false })}`,
    )
    .join('\n')}\n`
}
