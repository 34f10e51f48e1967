export default async () => {
  console.log('\ud800', ['\ud800'])
}
