// The configuration that Grafana's server writes into its page. `@grafana/runtime` reads it when it loads, so this file is imported first.
Object.assign(window, {
  public_cdn_path: "",
  grafanaBootData: {
    settings: {
      featureToggles: {},
      buildInfo: { version: "12.1.0", env: "development" },
      panels: {},
      datasources: {},
      appSubUrl: "",
      namespace: "default",
      minRefreshInterval: "5s",
      licenseInfo: {},
      unifiedAlerting: {},
      apps: {},
      geomapDefaultBaseLayerConfig: {},
    },
    user: {
      theme: "dark",
      timezone: "utc",
      locale: "en-US",
      language: "en-US",
      weekStart: "monday",
      permissions: {},
      orgRole: "Viewer",
    },
    navTree: [],
  },
});
