import type { TEXTS as EN } from './en.ts'

export const TEXTS: Readonly<Record<keyof typeof EN, string>> = {
  'admins.title': '管理者',
  'admins.lead': 'ここにサインインし、このサイトの管理 API を使用できる人です。',
  'admins.search': 'アドレスで検索',
  'admins.invite': '招待',
  'admins.address': 'アドレス',
  'admins.role': '役割',
  'admins.status': '状態',
  'admins.none': '該当するアドレスの管理者はいません',
  'admins.none-lead': 'アドレスの別の部分で検索するか、その人を招待してください。',
  'status.INVITED': '招待済み',
  'status.ACTIVE': '有効',
  'invite.title': '人を招待',
  'invite.email': 'メールアドレス',
  'invite.email-hint':
    '招待メールの送信先です。サイトのドメインのアドレスであれば、その人のメールボックスにもなります。',
  'invite.external': '招待の送信先',
  'invite.external-hint': 'まだそのメールボックスを読めない場合は、別のアドレスを指定します。',
  'invite.send': '招待を送信',
  'invite.sent': '{email} への招待を送信しました',
  'role.hint':
    'ユーザーは自分のメールボックスを読み、管理者はサイトを管理し、特権管理者は特権管理者の役割も変更できます。',
  'admin.lead': 'このサイトの管理者',
}
