import type { Invocation } from '#cli/command.ts'
import { ServiceRefusal } from '#cli/errors.ts'
import { sitePath } from '#cli/service-client.ts'

import { type BundleRequest, type BundledArtifact, bundleArtifact } from './bundle-artifact.ts'
import { functionEntries } from './function-entries.ts'

/** Bundles what the artifact defines, and the functions that the site has been given by other ways. */
export async function bundleForSite(
  call: Invocation,
  siteId: string,
  request: Pick<BundleRequest, 'folder' | 'artifact'>,
): Promise<BundledArtifact> {
  const bundled = await bundleArtifact({
    ...request,
    bound: await boundEntries(call, siteId),
    progress: call.progress,
  })
  tellWarnings(call, bundled)
  return bundled
}

export function tellWarnings(call: Invocation, { bundles }: BundledArtifact): void {
  for (const { artifact, warnings } of bundles) {
    for (const warning of warnings) call.progress(`${artifact}: ${warning}`)
  }
}

/** A key that may not read what the site is made of can still deploy what its definition names. */
async function boundEntries(call: Invocation, siteId: string): Promise<readonly string[]> {
  try {
    return functionEntries(await call.service.portal('GET', sitePath(siteId, '/iac/export')))
  } catch (error) {
    if (!(error instanceof ServiceRefusal)) throw error
    call.progress(`Bundles the functions that croft.json names, and no others: ${error.message}`)
    return []
  }
}
