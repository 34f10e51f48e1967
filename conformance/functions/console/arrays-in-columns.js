export default async () => {
  console.log(Array.from({ length: 120 }, (_, i) => i))
  console.log(Array.from({ length: 101 }, () => 'x'))
  console.log(Array.from({ length: 30 }, (_, i) => 'item ' + i))
}
