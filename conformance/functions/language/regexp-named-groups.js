export default async () => {
  return [...'2026-11-25'.matchAll(/(?<y>\d+)-(?<m>\d+)/g)].map((m) => ({ ...m.groups }))
}
