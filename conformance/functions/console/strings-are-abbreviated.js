export default async () => {
  console.log(['y'.repeat(10001)])
}
