// A dumbbell with one TCP flow in ns-3, for the comparison in docs/comparison.md.
//
//   g++ -O2 -std=c++17 dumbbell.cc -o dumbbell 
//       $(pkg-config --cflags --libs ns3-internet ns3-point-to-point ns3-applications)
//   ./dumbbell --algorithm=ns3::TcpCubic --duration=30
//
// The bottleneck has 100 Mbit/s, a drop-tail queue of 100 packets and a base RTT of 40 ms. Access links have 1 Gbit/s.
// It prints the goodput: payload that the receiver's application has read, in Mbit/s.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    std::string algorithm = "ns3::TcpCubic";
    double duration = 30;
    CommandLine cmd;
    cmd.AddValue("algorithm", "type of the congestion control", algorithm);
    cmd.AddValue("duration", "simulated time in seconds", duration);
    cmd.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(algorithm));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(8 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8 << 20));

    NodeContainer nodes;
    nodes.Create(4);
    InternetStackHelper().Install(nodes);
    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    access.SetChannelAttribute("Delay", StringValue("1ms"));
    access.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("10000p"));
    PointToPointHelper bottleneck;
    bottleneck.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    bottleneck.SetChannelAttribute("Delay", StringValue("18ms"));
    bottleneck.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("100p"));
    NetDeviceContainer links[] = {access.Install(nodes.Get(0), nodes.Get(1)),
                                  bottleneck.Install(nodes.Get(1), nodes.Get(2)),
                                  access.Install(nodes.Get(2), nodes.Get(3))};
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer last;
    for (auto& link : links)
    {
        last = addresses.Assign(link);
        addresses.NewNetwork();
        // The queue of the device is the only one: Assign() has put FqCoDel before it.
        TrafficControlHelper().Uninstall(link);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
    ApplicationContainer receiver = sink.Install(nodes.Get(3));
    receiver.Start(Seconds(0));
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(last.GetAddress(1), 5000));
    source.SetAttribute("MaxBytes", UintegerValue(0));
    source.Install(nodes.Get(0)).Start(Seconds(0));
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    std::cout << receiver.Get(0)->GetObject<PacketSink>()->GetTotalRx() * 8 / duration / 1e6 << std::endl;
    Simulator::Destroy();
}
