import { type Static, Type } from '@sinclair/typebox'

import { CommandError } from './errors.ts'
import { type ServiceClient, sitePath } from './service-client.ts'

const Resource = Type.Object({
  resourceId: Type.String(),
  type: Type.String(),
  name: Type.String(),
  config: Type.Unknown(),
})
export type ListedResource = Static<typeof Resource>

const ResourcePage = Type.Object({
  resources: Type.Array(Resource),
  nextToken: Type.Union([Type.String(), Type.Null()]),
})

const PAGE = 100

/** All resources of a site that have that type. */
export async function resourcesOf(
  service: ServiceClient,
  domain: string,
  type: 'ddbTable' | 's3Bucket',
): Promise<ListedResource[]> {
  const found: ListedResource[] = []
  for (let token: string | null = ''; token !== null;) {
    const next: Record<string, string> = token === '' ? {} : { nextToken: token }
    const query = new URLSearchParams({ limit: String(PAGE), ...next }).toString()
    const page: Static<typeof ResourcePage> = await service.portalAs(
      ResourcePage,
      'GET',
      sitePath(domain, `/resources?${query}`),
    )
    found.push(...page.resources.filter((resource) => resource.type === type))
    token = page.nextToken
  }
  return found
}

/** The path of the actions on a table or bucket, by its name or id. */
export async function contentPath(
  service: ServiceClient,
  domain: string,
  { type, name }: { readonly type: 'ddbTable' | 's3Bucket'; readonly name: string },
): Promise<string> {
  const [noun, part] = type === 'ddbTable' ? ['table', 'ddb'] : ['bucket', 's3']
  const all = await resourcesOf(service, domain, type)
  const found = all.find((each) => each.name === name || each.resourceId === name)
  if (found) return sitePath(domain, `/resources/${found.resourceId}/data/${part}`)
  const names = all.map((each) => each.name).join(', ')
  throw new CommandError(
    `${domain} has no ${noun} "${name}"${names === '' ? '' : `: it has ${names}`}`,
  )
}
