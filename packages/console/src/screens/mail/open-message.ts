import type { AdminRoutes } from '../../../../sdk/admin-routes.ts'

/** A message with all that it holds. */
export type OpenMessage = AdminRoutes['get']['/admin/api/messages/{messageId}']['response']
