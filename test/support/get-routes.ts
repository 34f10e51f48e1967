import type { Answer } from './http-client.ts'
import type { Stack } from './stack.ts'

/** Paths of routes whose answer never ends, or is a page. */
const LEFT_OUT = [
  '/admin/api/messages/stream',
  '/admin/public/onboarding/super-admin',
  '/admin/public/onboarding/user',
  '/admin/public/forwarding/verify',
]
/** Of one site. */
const WALKED = /^\/(?:admin\/(?:api|data|public)|data\/|portal\/api\/sites\/:siteId)/

/** What goes into the places of paths; several for a name that routes use for different things. */
export type PathValues = Readonly<Record<string, string | readonly string[]>>

/** What every GET route of a site answers to its super-admin and the operator, by its path; those without a value are `skipped`. */
export async function answersOf(
  stack: Stack,
  host: string,
  values: PathValues,
): Promise<{ readonly answers: ReadonlyMap<string, Answer>; readonly skipped: string[] }> {
  const adminToken = await stack.adminToken(host)
  const answers = new Map<string, Answer>()
  const skipped: string[] = []
  const { siteId } = await stack.context.sites.find(host)
  for (const { method, path: route } of stack.app.routes) {
    const template = route.replace(/\/$/, '')
    if (method !== 'GET' || !WALKED.test(template) || LEFT_OUT.includes(template)) continue
    const paths = pathsOf(template, { ...values, siteId })
    if (paths.length === 0) skipped.push(template)
    for (const path of paths) {
      const isPortal = path.startsWith('/portal')
      const token = isPortal ? stack.operatorKey : adminToken
      const answer = await stack.call(isPortal ? 'localhost' : host, 'GET', path, { token })
      answers.set(path.replace(siteId, ':siteId'), answer)
    }
  }
  return { answers, skipped }
}

function pathsOf(template: string, values: PathValues): string[] {
  let paths = [template]
  for (const [, name = ''] of template.matchAll(/:(\w+)/g)) {
    const known = [values[`${template} ${name}`] ?? values[name] ?? []].flat()
    paths = paths.flatMap((path) =>
      known.map((value) => path.replace(`:${name}`, encodeURIComponent(value))),
    )
  }
  return paths
}
