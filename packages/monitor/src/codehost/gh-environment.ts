// What the client program gets of our environment: what it needs to find its token and the network, and
// nothing else. Its debug switches stay out: they would print what is sent, secrets included.
import type { Environment } from '@svc/core';

const wanted = [
  /^(?:PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR)$/,
  /^(?:XDG_CONFIG_HOME|XDG_STATE_HOME|XDG_DATA_HOME|XDG_CACHE_HOME|XDG_RUNTIME_DIR)$/,
  /^(?:GH_TOKEN|GITHUB_TOKEN|GH_ENTERPRISE_TOKEN|GITHUB_ENTERPRISE_TOKEN|GH_HOST|GH_CONFIG_DIR)$/,
  /^(?:SSL_CERT_FILE|SSL_CERT_DIR|DBUS_SESSION_BUS_ADDRESS)$/,
  /^(?:HTTPS?_PROXY|NO_PROXY|ALL_PROXY)$/i,
];

export function environmentForGh(environment: Environment): Record<string, string> {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && wanted.some((pattern) => pattern.test(name))) given[name] = value;
  }
  return { ...given, GH_PROMPT_DISABLED: '1', GH_NO_UPDATE_NOTIFIER: '1', NO_COLOR: '1' };
}

/** The tokens among them: they must not stand in anything that is written down. */
export function tokensIn(environment: Readonly<Record<string, string>>): string[] {
  return Object.entries(environment)
    .filter(([name, value]) => name.endsWith('_TOKEN') && value !== '')
    .map(([, value]) => value);
}
