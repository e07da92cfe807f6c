// `node .ci/count-tests.ts report.json files`: prints how many tests of a vitest report passed and failed, and appends
// a line with seconds and name for every test file to `files`.
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

type Report = {
  numPassedTests: number;
  numFailedTests: number;
  numFailedTestSuites: number;
  testResults: { name: string; startTime: number; endTime: number }[];
};

const [report = '', files = ''] = process.argv.slice(2);
const { numPassedTests, numFailedTests, numFailedTestSuites, testResults }: Report = JSON.parse(
  readFileSync(report, 'utf8'),
);
for (const { name, startTime, endTime } of testResults)
  appendFileSync(files, `${((endTime - startTime) / 1000).toFixed(1)} ${relative(process.cwd(), name)}\n`);
// A file that does not load has no test that could fail.
console.log(numPassedTests, Math.max(numFailedTests, numFailedTestSuites > 0 ? 1 : 0));
