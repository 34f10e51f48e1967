import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import { AppError, notFound } from '#base/app-error.ts'
import { type RepoBinding, storedSource } from '#sites/source.ts'

import type { selectSiteSource } from './queries.ts'

export const DEFAULT_REPOSITORY_BYTES = 1024 ** 3

const StoredLimits = Type.Object({
  limits: Type.Object({ repositoryBytes: Type.Optional(Type.Integer()) }),
})

/** What a site's row says of its repository. */
export interface Binding extends RepoBinding {
  /** What its packs may hold together. */
  readonly maxBytes: number
}

/** 404 for a site that is gone, and for one whose files come from elsewhere. */
export function bindingOf(
  siteId: string,
  row: Awaited<ReturnType<typeof selectSiteSource>>,
): Binding {
  if (!row) throw notFound('Site', siteId)
  const source = storedSource(row)
  if (source.sourceMode !== 'SITE_GIT') {
    throw new AppError(
      'RepositoryNotFound',
      'The source mode of this site is "EXTERNAL_REPO": push to its own repository, or change the mode to "SITE_GIT"',
    )
  }
  return { ...source.repoBinding, maxBytes: bytesOf(row.deployment_settings) }
}

const bytesOf = (settings: unknown): number =>
  Value.Check(StoredLimits, settings)
    ? (settings.limits.repositoryBytes ?? DEFAULT_REPOSITORY_BYTES)
    : DEFAULT_REPOSITORY_BYTES
