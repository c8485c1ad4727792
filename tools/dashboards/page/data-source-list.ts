import { type GetDataSourceListFilters, getDataSourceSrv } from "@grafana/runtime";
import type { DataSourceRef } from "@grafana/schema";

// What `@grafana/scenes` imports from a package that asks a running Grafana. There is one data source here.

export async function getDataSourceInstance(ref: DataSourceRef | string | null) {
  return getDataSourceSrv().get(ref);
}

export async function getDataSourceInstanceList(filters?: GetDataSourceListFilters) {
  return getDataSourceSrv().getList(filters);
}

export async function getDefaultDataSourceInstanceListItem(filters?: GetDataSourceListFilters) {
  return getDataSourceSrv().getList(filters)[0];
}
