import { invalidate } from '#app/api/resources.ts'
import { toast } from '#app/components/toasts.tsx'
import { pathTo } from '#app/router/route-match.ts'
import { navigate } from '#app/router/router.ts'

import { t } from './texts.ts'

/** Shows a message that was sent, in place of the form. */
export function showSent(id: string): void {
  invalidate('/admin/api/messages')
  toast(t('compose.sent'))
  navigate(pathTo('/mail/messages/{id}', { id }), { replace: true })
}
