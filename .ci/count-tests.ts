// `node .ci/count-tests.ts report.json files`: prints how many tests of a vitest report passed and failed, and appends
// a line to `files` for every test file: seconds, name, and its slowest test.
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

type Report = {
  numPassedTests: number;
  numFailedTests: number;
  numFailedTestSuites: number;
  testResults: {
    name: string;
    startTime: number;
    endTime: number;
    assertionResults: { fullName: string; duration?: number | null }[];
  }[];
};

const [report = '', files = ''] = process.argv.slice(2);
const { numPassedTests, numFailedTests, numFailedTestSuites, testResults }: Report = JSON.parse(
  readFileSync(report, 'utf8'),
);
const seconds = (ms: number) => (ms / 1000).toFixed(1);
for (const { name, startTime, endTime, assertionResults } of testResults) {
  const [slowest] = assertionResults.toSorted((a, b) => (b.duration ?? 0) - (a.duration ?? 0));
  const test = slowest === undefined ? '' : ` (${seconds(slowest.duration ?? 0)} s: ${slowest.fullName})`;
  appendFileSync(files, `${seconds(endTime - startTime)} ${relative(process.cwd(), name)}${test}\n`);
}
// A file that fails to load has no tests that could fail.
console.log(numPassedTests, Math.max(numFailedTests, numFailedTestSuites > 0 ? 1 : 0));
