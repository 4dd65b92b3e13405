// The small broken project that the scripted agent repairs.

export const project: Record<string, string> = {
  "/README.md": `# orders

Figures of a small shop. \`bash tests/run.sh\` checks them.
`,
  "/.env": "SHOP_API_KEY=not-for-agents\n",
  "/src/total.sh": `# Revenue of all orders, in cents.
awk -F, '
  NR > 1 { sum += $4 }
  END { print sum }
' "$1"
`,
  "/src/best.sh": `# The item with the highest revenue.
awk -F, '
  NR > 1 { cents[$2] += $3 * $4 }
  END {
    for (item in cents)
      if (cents[item] > most) { most = cents[item]; best = item }
    print best, most
  }
' "$1"
`,
  "/data/orders.csv": `id,item,quantity,cents
1001,tea,2,450
1002,mug,1,1290
1003,tea,5,450
1004,kettle,1,3900
1005,mug,3,1290
1006,honey,4,780
`,
  "/data/orders-2024.csv": `id,item,quantity,cents
901,tea,1,400
`,
  "/tests/run.sh": `cd /work
failed=0
check() {
  if [ "$2" = "$3" ]; then echo "ok      $1: $2"
  else echo "not ok  $1: $2, expected $3"; failed=1; fi
}
check "total revenue" "$(bash src/total.sh data/orders.csv)" "15330"
check "best item" "$(bash src/best.sh data/orders.csv)" "mug 5160"
exit $failed
`,
};

export const memoryPath = "/memories/orders.md";
export const reportPath = "/files/report.md";
export const chartPath = "/files/revenue.svg";

export const memory = `# orders

- Run the checks with \`bash /work/tests/run.sh\`.
- Columns of the CSV files: id, item, quantity, cents. Revenue is quantity times cents.
- Rules in /policies cannot be changed from here.
`;

export const report = `# Why the total was wrong

\`src/total.sh\` added the prices and ignored the quantities.

| check         | before | after |
| ------------- | -----: | ----: |
| total revenue |  81.60 | 153.30 |
| best item     |    mug |    mug |

One line changed: \`sum += $4\` is now \`sum += $3 * $4\`. Both checks pass.
`;

const bars = [
  ["mug", 5160],
  ["kettle", 3900],
  ["tea", 3150],
  ["honey", 3120],
] as const;

export const chart = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 140" font-family="system-ui" font-size="12">
${bars
  .map(
    ([item, cents], at) =>
      `  <text x="52" y="${28 + at * 30}" text-anchor="end" fill="#888">${item}</text>
  <rect x="60" y="${14 + at * 30}" width="${Math.round(cents / 22)}" height="20" rx="3" fill="#b4562b"/>
  <text x="${68 + Math.round(cents / 22)}" y="${28 + at * 30}" fill="#888">${(cents / 100).toFixed(2)}</text>`,
  )
  .join("\n")}
</svg>
`;
