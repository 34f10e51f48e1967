import { SiteImports, type SiteImportsDeps } from '#sites/imports/site-imports.ts'

import { ArchiveImports, type ArchiveImportsDeps } from './archive-imports.ts'
import { SiteExports, type SiteExportsDeps } from './site-exports.ts'

/** Sites on their way between installations. */
export interface Archives {
  readonly siteExports: SiteExports
  readonly archiveImports: ArchiveImports
}

export const openArchives = (
  deps: SiteExportsDeps & Omit<ArchiveImportsDeps, 'siteImports'> & SiteImportsDeps,
): Archives => ({
  siteExports: new SiteExports(deps),
  archiveImports: new ArchiveImports({ ...deps, siteImports: new SiteImports(deps) }),
})
