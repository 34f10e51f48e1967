import { installPackages, isExtraPackages } from './extra-packages.ts'

/** Installs what is no part of the product, by folder: `node scripts/install-packages.ts peers`. */
for (const folder of process.argv.slice(2)) {
  if (!isExtraPackages(folder)) throw new Error(`"${folder}" is no folder of packages`)
  await installPackages(folder, console.log)
}
