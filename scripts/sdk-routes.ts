import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'

import { ADMIN_ROUTES_FILE, adminRoutesSource } from './sdk/admin-routes.ts'

/** Writes the types of the admin routes again after a route has changed. */
await writeFile(resolve(import.meta.dirname, '..', ADMIN_ROUTES_FILE), adminRoutesSource())
