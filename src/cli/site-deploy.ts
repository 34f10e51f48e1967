import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'

import { AppError } from '#base/app-error.ts'
import { gitFolderState } from '#platform/git/folder-state.ts'
import {
  type ArtifactFolder,
  type FolderFile,
  scanArtifact,
} from '#sites/deployments/artifact-folder.ts'
import { PendingDeployment, DeploymentRecord } from '#sites/deployments/model.ts'
import { SITE_DEFINITION_FILE } from '#sites/static-settings.ts'

import { type BundleSize, bundledText } from './bundle/bundle-size.ts'
import { bundleForSite } from './bundle/site-functions.ts'
import { type CliCommand, type Invocation, textOption } from './command.ts'
import { CommandError, UsageError } from './errors.ts'
import { sitePath } from './service-client.ts'
import { readRuntime, waitForDeployment } from './site-runtime.ts'

const UPLOADS_AT_ONCE = 4
const FETCH_MS = 150_000

export const siteDeploy: CliCommand = {
  name: 'site deploy',
  summary: 'Deploy a local folder, or the current branch of the site’s repository',
  words: ['DOMAIN'],
  deployToken: true,
  options: [
    textOption('--from <folder>', 'the local folder with the build.yml'),
    textOption('--ref <ref>', 'a branch, tag or commit of the repository, instead of its branch'),
  ],
  async run(call) {
    const site = await readRuntime(call.service, call.args.word)
    const from = call.args.text('from')
    const ref = call.args.text('ref')
    if (from !== undefined && ref !== undefined) {
      throw new UsageError('--from takes files of this machine, --ref of the repository: give one')
    }
    const { deployment, uploaded, bundles } =
      from === undefined
        ? await deployRepository(call, site.siteId, ref)
        : await deployFolder(call, site.siteId, resolve(from))
    const { deploymentId } = deployment
    const { fault, ...runtime } = await waitForDeployment(call, site.siteId, deploymentId)
    const words = `${deployment.fileCount} files, ${deployment.sizeBytes} bytes`
    return {
      json: {
        ...deployment,
        siteDomain: site.domain,
        uploaded,
        bundles,
        ...runtime,
      },
      text:
        fault === undefined
          ? `${bundledText(bundles)}Deployed ${deploymentId} to ${site.domain}: ${words}. The runtime runs it now.`
          : `Deployed ${deploymentId} to ${site.domain} (${words}), but ${fault}`,
      failed: fault !== undefined,
    }
  },
}

interface Deployed {
  readonly deployment: DeploymentRecord
  readonly uploaded: number
  /** The functions that were bundled with their packages. */
  readonly bundles: readonly BundleSize[]
}

async function deployRepository(
  call: Invocation,
  siteId: string,
  ref: string | undefined,
): Promise<Deployed> {
  call.progress('The service fetches the repository…')
  const path = sitePath(siteId, '/deployments/fetch')
  return {
    deployment: await call.service.portalAs(DeploymentRecord, 'POST', path, {
      timeoutMs: FETCH_MS,
      ...(ref === undefined ? {} : { body: { ref } }),
    }),
    uploaded: 0,
    bundles: [],
  }
}

async function deployFolder(call: Invocation, siteId: string, folder: string): Promise<Deployed> {
  const { service } = call
  await using bundled = await bundleForSite(call, siteId, {
    folder,
    artifact: await scanFolder(folder),
  })
  const { artifact, bundles } = bundled
  const git = await gitFolderState(folder)
  const body = {
    ...(git === undefined ? {} : { git }),
    buildYml: artifact.buildYml,
    files: artifact.files.map(({ path, sha256, sizeBytes }) => ({ path, sha256, sizeBytes })),
  }
  const begun = await service.portalAs(
    PendingDeployment,
    'POST',
    sitePath(siteId, '/deployments'),
    {
      body,
    },
  )
  const base = sitePath(siteId, `/deployments/${begun.deploymentId}`)
  const missing = new Set(begun.missing)
  const files = artifact.files.filter(({ sha256 }) => missing.delete(sha256))
  call.progress(`${artifact.files.length} files, ${files.length} to upload`)
  await upload(call, base, files)
  return {
    deployment: await service.portalAs(DeploymentRecord, 'POST', `${base}/activate`, {
      timeoutMs: FETCH_MS,
    }),
    uploaded: files.length,
    bundles,
  }
}

/** Reads a folder with a `build.yml`, and says of one that cannot be read what is wrong with it. */
export async function scanFolder(folder: string): Promise<ArtifactFolder> {
  const stats = await stat(folder).catch(() => undefined)
  if (stats?.isDirectory() !== true) {
    throw new CommandError(`"${folder}" is no folder here: --from takes the one with the build.yml`)
  }
  try {
    return await scanArtifact(folder)
  } catch (error) {
    if (error instanceof AppError) {
      throw new CommandError(`${error.code}: ${error.message} (in "${folder}")`, { cause: error })
    }
    throw error
  }
}

async function upload(call: Invocation, base: string, files: readonly FolderFile[]): Promise<void> {
  // The definition first: what it says decides whether the rest is of any use.
  const waiting = [
    ...files.filter(({ path }) => path === SITE_DEFINITION_FILE),
    ...files.filter(({ path }) => path !== SITE_DEFINITION_FILE),
  ].entries()
  const one = async (): Promise<void> => {
    for (const [index, file] of waiting) {
      const bytes = await readFile(file.absolutePath)
      await call.service.portal('PUT', `${base}/files/${file.sha256}`, { bytes })
      call.progress(`${index + 1}/${files.length} ${file.path} (${file.sizeBytes} bytes)`)
    }
  }
  await Promise.all(Array.from({ length: UPLOADS_AT_ONCE }, one))
}
