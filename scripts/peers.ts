import { installPackages } from './extra-packages.ts'

/** Installs the packages of others that tests, benchmarks and conformance compare the service with. */
await installPackages('peers', console.log)
