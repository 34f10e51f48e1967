import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'

import { ifMissing } from '#base/error-code.ts'
import type { ArtifactFolder } from '#sites/deployments/artifact-folder.ts'
import { parseBuildYml } from '#sites/deployments/build-yml.ts'

import { bundleArtifact } from './bundle/bundle-artifact.ts'
import { bundledText } from './bundle/bundle-size.ts'
import { tellWarnings } from './bundle/site-functions.ts'
import { type CliCommand, listOption, requiredOption } from './command.ts'
import { CommandError } from './errors.ts'
import { scanFolder } from './site-deploy.ts'

/** What may be in the folder beside the artifact directory. */
const KEPT = ['.git', 'build.yml']

export const siteBundle: CliCommand = {
  name: 'site bundle',
  summary: 'Bundle a site’s files with the packages of its functions, to be pushed or deployed',
  options: [
    requiredOption('--from <folder>', 'the local folder with the build.yml'),
    requiredOption('--out <folder>', 'where to write build.yml and the artifact directory'),
    listOption('--entry <file>', 'a function’s file that croft.json does not name'),
  ],
  async run(call) {
    const { args } = call
    const folder = resolve(args.required('from'))
    const out = resolve(args.required('out'))
    const artifact = await scanFolder(folder)
    const { artifactDirectory } = parseBuildYml(artifact.buildYml)
    refuseOverlap(join(folder, artifactDirectory), out)
    const bound = args.list('entry') ?? []
    refuseMissing(bound, artifact)
    await using bundled = await bundleArtifact({ folder, artifact, bound, progress: call.progress })
    const { bundles } = bundled
    tellWarnings(call, bundled)
    await makeRoom(out, artifactDirectory)
    await writeArtifact(join(out, artifactDirectory), bundled.artifact)
    await writeFile(join(out, 'build.yml'), artifact.buildYml)
    const fileCount = bundled.artifact.files.length
    return {
      json: { out, artifactDirectory, fileCount, bundles },
      text: `${bundledText(bundles)}Wrote ${fileCount} files to "${join(out, artifactDirectory)}"`,
    }
  },
}

/** What is written must not be what is read. */
function refuseOverlap(source: string, out: string): void {
  if (!isInside(source, out) && !isInside(out, source)) return
  throw new CommandError(`--out "${out}" and the artifact directory "${source}" overlap`)
}

const isInside = (path: string, folder: string): boolean => !relative(folder, path).startsWith('..')

function refuseMissing(entries: readonly string[], { files }: ArtifactFolder): void {
  const missing = entries.find((entry) => !files.some(({ path }) => path === entry))
  if (missing === undefined) return
  throw new CommandError(`--entry "${missing}" is no file of the artifact directory`)
}

/** Removes what an earlier call wrote, and nothing else. */
async function makeRoom(out: string, directory: string): Promise<void> {
  const present = await readdir(out).catch(ifMissing<string[]>([]))
  const [first = ''] = directory.split('/')
  const alien = present.find((name) => !KEPT.includes(name) && name !== first)
  if (alien !== undefined) {
    throw new CommandError(
      `"${out}" holds "${alien}": --out takes an empty folder, or one that this command has written`,
    )
  }
  if (first !== '.') await rm(join(out, first), { recursive: true, force: true })
}

async function writeArtifact(root: string, { files }: ArtifactFolder): Promise<void> {
  await mkdir(root, { recursive: true })
  for (const { path, absolutePath } of files) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await copyFile(absolutePath, join(root, path))
  }
}
