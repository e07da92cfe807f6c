// The configuration of this product: the kernel's functions with the keys and checks of every feature.
import { createConfiguration } from '../kernel/config/configuration.ts';
import { findKey as find } from '../kernel/config/key-path.ts';
import { openLiveConfig as open } from '../kernel/config/live.ts';
import { loadConfig as load } from '../kernel/config/load.ts';
import { loadProjects as loadAll } from '../kernel/config/projects.ts';
import { resolveConfig as resolve } from '../kernel/config/resolve.ts';
import { attentionConfig } from './attention/config-part.ts';
import { Config } from './config.ts';
import { contextConfig } from './context/config-part.ts';
import { deployConfig } from './deploy/config-part.ts';
import { feedsConfig } from './feeds/config-part.ts';
import { otelConfig } from './otel/config-part.ts';
import { rulesConfig } from './rules/config-part.ts';
import { runsConfig } from './runs/config-part.ts';
import { summariesConfig } from './summaries/config-part.ts';
import { teamConfig } from './team/config-part.ts';
import { trackerConfig } from './tracker/config-part.ts';

export const configuration = createConfiguration(Config, [
  trackerConfig,
  contextConfig,
  summariesConfig,
  attentionConfig,
  rulesConfig,
  deployConfig,
  runsConfig,
  teamConfig,
  feedsConfig,
  otelConfig,
]);

export const { tree: configTree, deprecations, allFields } = configuration;

export const findKey = find.bind(null, configTree);
export const resolveConfig = resolve.bind(null, configuration);
export const loadConfig = load.bind(null, configuration);
export const loadProjects = loadAll.bind(null, configuration);
export const openLiveConfig = open.bind(null, configuration);
