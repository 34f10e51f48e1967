/** As much of it as the tests use; the package brings no types. */
declare module 'dynalite' {
  import type { Server } from 'node:http'

  function dynalite(options?: { createTableMs?: number; path?: string }): Server
  export = dynalite
}
