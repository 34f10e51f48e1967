import type { TableCatalog } from './table-catalog.ts'
import type { Tag } from './table-requests.ts'
import { checkTagCount, checkTagKeys, checkTags } from './tag-rules.ts'
import { accessDenied, dynamoError, validationFault, WireError } from './wire-error.ts'
import { arnOf } from './wire-table.ts'

const USER = 'arn:aws:iam::000000000000:user/anybody'
const ANY_RESOURCE = /^.+:.+:.+:.+:.+:.+\/.+$/
const TABLE_ARN = /^arn:aws:dynamodb:.+:\d+:table\/(?<name>[^/]{2}[^/]+)$/

export interface TagRequest {
  readonly ResourceArn?: string
  readonly Tags?: readonly Tag[]
  readonly TagKeys?: readonly string[]
}

/** The tags of a table, which mean nothing here but are kept. */
export class TagActions {
  readonly #catalog: TableCatalog

  constructor(catalog: TableCatalog) {
    this.#catalog = catalog
  }

  add(request: TagRequest): '' {
    const { Tags: tags = [] } = request
    const name = tableNamed('TagResource', request, () => {
      if (request.Tags === undefined) throw mustNotBeNull('tags')
    })
    if (tags.length === 0) {
      throw validationFault('Atleast one Tag needs to be provided as Input.')
    }
    checkTags(tags)
    const known = this.#of(name, request)
    const merged = new Map([...known, ...tags.map((tag) => [tag.Key, tag.Value] as const)])
    checkTagCount(merged.size)
    this.#catalog.tag(name, merged)
    return ''
  }

  remove(request: TagRequest): '' {
    const { TagKeys: keys = [] } = request
    const name = tableNamed('UntagResource', request, () => {
      if (request.TagKeys === undefined) throw mustNotBeNull('tagKeys')
    })
    if (keys.length === 0) {
      throw validationFault('Atleast one Tag Key needs to be provided as Input.')
    }
    checkTagKeys(keys)
    const known = this.#of(name, request)
    this.#catalog.tag(name, new Map([...known].filter(([key]) => !keys.includes(key))))
    return ''
  }

  list(request: TagRequest): object {
    const name = tableNamed('ListTagsOfResource', request, () => {})
    return { Tags: [...this.#of(name, request)].map(([Key, Value]) => ({ Key, Value })) }
  }

  #of(name: string, request: TagRequest): ReadonlyMap<string, string> {
    try {
      return this.#catalog.known(name).tags
    } catch (fault) {
      if (!(fault instanceof WireError)) throw fault
      throw dynamoError(
        'ResourceNotFoundException',
        `Requested resource not found: ResourcArn: ${request.ResourceArn ?? arnOf(name)} not found`,
      )
    }
  }
}

/** Checks the parts in DynamoDB's order: is it an ARN at all, what goes with it, is it a table's. */
function tableNamed(action: string, { ResourceArn: arn }: TagRequest, others: () => void): string {
  if (arn === undefined) throw validationFault('Invalid TableArn')
  if (!ANY_RESOURCE.test(arn)) {
    throw accessDenied(
      `User: ${USER} is not authorized to perform: dynamodb:${action} on resource: ${arn || '*'}`,
    )
  }
  others()
  const name = TABLE_ARN.exec(arn)?.groups?.['name']
  if (name !== undefined) return name
  throw validationFault(`Invalid TableArn: Invalid ResourceArn provided as input ${arn}`)
}

const mustNotBeNull = (field: string): WireError =>
  validationFault(
    `1 validation error detected: Value null at '${field}' failed to satisfy constraint: Member must not be null`,
  )
