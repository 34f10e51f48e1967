// Plain JavaScript for any Node from 18 on, run after each installation. Removes from `node_modules` what neither the service nor a
// test reads: a fifth of its size. What it does not find, it leaves alone.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const PACKAGES = 'node_modules'
/** As npm takes them: `npm ci --os linux --cpu arm64` installs for another machine. */
// oxlint-disable-next-line node/no-process-env -- npm's own options
const { npm_config_os: os = process.platform, npm_config_cpu: cpu = process.arch } = process.env
const SOURCE_MAP = /\.(?:d\.[cm]?ts|[cm]?js|css)\.map$/
const DECLARATION = /\.d\.[cm]?ts$/
/** Nothing is compiled against the packages of production. */
const isProduction = !existsSync(join(PACKAGES, 'bun-types'))

if (existsSync(PACKAGES)) {
  for (const path of unreadPaths()) rmSync(path, { recursive: true, force: true })
  removeFiles(PACKAGES, (name) => SOURCE_MAP.test(name) || (isProduction && DECLARATION.test(name)))
}

/** Folders, and files that are large. */
function unreadPaths() {
  return [
    // For compilers.
    ...named(/^node-(?:bin-)?(?:linux|darwin)-/).map((name) => join(PACKAGES, name, 'include')),
    ...otherPrebuilds(),
    ...inPackage('isolated-vm', /\.tgz$/),
    join(PACKAGES, 'bun-types/docs'),
    // For bundlers that name this condition.
    ...inPackage('@opentelemetry', /./).map((folder) => join(folder, 'build/esnext')),
    // For TypeScript before 4.
    ...['@aws-sdk', '@smithy']
      .flatMap((scope) => inPackage(scope, /./))
      .map((folder) => join(folder, 'dist-types/ts3.4')),
  ]
}

/** The platforms that isolated-vm also has a binary for, if it has one for this. */
function otherPrebuilds() {
  const ours = `${os}-${cpu}`
  const prebuilds = inPackage('isolated-vm/prebuilds', /./)
  const path = join(PACKAGES, 'isolated-vm/prebuilds', ours)
  return prebuilds.includes(path) ? prebuilds.filter((each) => each !== path) : []
}

function inPackage(name, pattern) {
  const folder = join(PACKAGES, name)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((each) => pattern.test(each))
    .map((each) => join(folder, each))
}

function named(pattern) {
  return readdirSync(PACKAGES).filter((name) => pattern.test(name))
}

function removeFiles(folder, isUnread) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    // Links lead to what is not npm's.
    if (entry.isDirectory()) removeFiles(path, isUnread)
    else if (entry.isFile() && isUnread(entry.name)) rmSync(path)
  }
}
